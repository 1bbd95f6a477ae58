#!/usr/bin/env bash
# run.sh on a tree of three files: what it must say of mutants that are noticed, and that are not.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
mkdir -p "$tree/tests/mutants"
cp "$here/run.sh" "$tree/tests/mutants"
cd "$tree"

cat > CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.22)
project(tiny LANGUAGES C)
enable_testing()
add_executable(answer answer.c)
add_test(NAME "the answer" COMMAND answer)
add_test(NAME "the question" COMMAND sh ${CMAKE_SOURCE_DIR}/question.sh)
END
printf 'int answer = 42;\nint unused = 1;\nint main(void) { return answer == 42 ? 0 : 1; }\n' > answer.c
printf 'test "6 by 9" = "6 by 9"\n' > question.sh
git init -q .
git add .

mutant() {  # NAME TEST FILE SED-EXPRESSION
  sed "$4" "$3" > changed
  {
    printf 'Rule: 10\nBreaks: %s\nTest: %s\n\n' "$1" "$2"
    diff -u --label "a/$3" --label "b/$3" "$3" changed || true
  } > "tests/mutants/$1.patch"
  rm changed
}
mutant noticed 'the answer' answer.c 's/answer = 42/answer = 41/'
mutant noticed-in-a-script 'the question' question.sh 's/= "6 by 9"/= "42"/'
mutant unnoticed 'the answer' answer.c 's/unused = 1/unused = 2/'
mutant ill-formed 'the answer' answer.c 's/answer = 42/answer = fortytwo/'
mutant untested 'no such test' answer.c 's/answer = 42/answer = 41/'
mutant misfit 'the answer' answer.c 's/answer = 42/answer = 41/'
sed -i 's/^-int answer = 42/-int answer = 43/' tests/mutants/misfit.patch
printf 'Rule: 10\n' > tests/mutants/nameless.patch

expect() {  # EXIT-CODE TEXT MUTANT...
  local code=0 expected=$1 text=$2
  shift 2
  tests/mutants/run.sh "$@" > said 2>&1 || code=$?
  if [ "$code" != "$expected" ] || ! grep -q "$text" said; then
    cat said
    echo "run.sh $*: exit code $code, expected $expected and '$text'"
    exit 1
  fi
}
expect 0 '2 mutants, 2 killed, 0 not' noticed noticed-in-a-script
expect 1 'mutants: unnoticed: SURVIVED' noticed unnoticed
expect 1 '2 mutants, 1 killed, 1 not' unnoticed noticed  # a mutant leaves nothing behind
expect 1 'ill-formed: ERROR: does not build' ill-formed
expect 1 'misfit: ERROR: does not apply' misfit
expect 70 'must be green' untested
expect 1 'untested: ERROR: names no test' noticed untested
expect 65 "no line 'Breaks" nameless
expect 66 'no such file' missing
sed -i 's/answer = 42;/answer = 40;/' answer.c
expect 70 'must be green before anything is broken' noticed
