#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "task/data_source.hpp"

namespace headcount {

// In the package's order, which is that of publication.
inline constexpr std::array<std::string_view, 6> kNovels{
    "sense and sensibility", "pride and prejudice", "mansfield park", "emma",
    "northanger abbey",      "persuasion"};

// The six novels, in order, from the bytes of the package's Rdata.rdb: the character vectors whose
// first line is the title, their lines ended by '\n'. Throws Error (bad_data) when one is missing.
std::vector<std::string> novels_from_r_data(std::string_view file);

// The chapters of one novel as documents "<novel>/chapter <n>" of group "<novel>". Chapters are
// counted through the volumes; a chapter opens with its heading. What stands before the first
// chapter, and the headings of volumes, are left out. Throws Error (bad_data) without chapters.
std::vector<Document> chapters_of(std::string_view novel, std::string_view text);

}  // namespace headcount
