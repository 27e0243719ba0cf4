"""Every rule of tools/tidy on a small tree that breaks it, and on one that does not.

Run by ctest as `tools/tidy --self-test`. A case has files and the findings that they must give, as
"PATH:LINE RULE"; a rule that finds nothing where it should is an error here.
"""
import os, shutil, subprocess, tempfile

HEAD = '// A file.\n'
LONG = 'void Long() {\n' + '  Call();\n' * 68 + '}\n'
ROOMS = '''# House

```rooms
base/             the ground floor              (uses: -)
  low/            below
  left/, right/   beside each other
  high/           above
tower/            another house                 (uses: base; tests: shed)
shed/             tools                         (uses: all)
  ./              what all tools use
  saw/            cuts
```
'''
# name, rules, files, findings
CASES = [
    ('columns', 'columns', {'a.cc': HEAD + 'int x = 1;' + ' ' * 91 + '\n' + 'int y = 1;' + ' ' * 90 + '\n'}, ['a.cc:2 columns']),
    ('a long address and a raw string are no code', 'columns',
     {'a.cc': HEAD + '// https://' + 'a' * 120 + '\nauto t = R"(\n' + 'b' * 120 + '\n)";\n'}, []),
    ('head', 'head', {'a.cc': '#include "a.h"\n', 'a.h': HEAD, 'b.h': '\n' + HEAD}, ['a.cc:1 head', 'b.h:1 head']),
    ('length', 'length', {'a.cc': HEAD + LONG + LONG.replace('  Call();\n', '', 1)}, []),
    ('a function of 72 lines', 'length', {'a.cc': HEAD + LONG.replace('  Call();\n', '  Call();\n  Call();\n', 2)}, ['a.cc:2 length']),
    ('a method in a class in a namespace', 'length',
     {'a.h': HEAD + 'namespace n {\nclass A {\n ' + LONG.replace('  Call();\n', '  Call();\n  if (x) {}\n') + '};\n}\n'}, ['a.h:4 length']),
    ('a table at namespace level is no function', 'length',
     {'a.cc': HEAD + 'constexpr Row kRows[] = {\n' + '    {F(1), 2},\n' * 90 + '};\nvoid Short() {}\n'}, []),
    ('braces in strings, characters and comments', 'length',
     {'a.cc': HEAD + 'void F() {\n  Call("{", \'{\', R"({{)");  // {\n}\n' + LONG}, []),
    ('an exempt table', 'length', {'a.cc': HEAD + LONG.replace('  Call();\n', '  Call();\n  Call();\n', 2),
                                   'tools/tidy.list': '# exemptions\nlength a.cc:Long a table of calls\n'}, []),
    ('an exemption without a reason', 'length', {'tools/tidy.list': 'length a.cc\n'}, ['tools/tidy.list:1 list']),
    ('a class of 301 lines and one of 300', 'classes',
     {'a.h': HEAD + 'namespace n {\nclass Long final : public A {\n' + '  int a();\n' * 299 + '};\nclass Short {\n' +
             '  int a();\n' * 298 + '};\nclass Declared;\n}\n'}, ['a.h:3 classes']),
    ('types', 'types',
     {'a.h': HEAD + 'namespace n {\nstruct A {\n};\nstruct B;\n}\n', 'b.h': HEAD + 'namespace n {\nclass A : public B {\n};\nstruct B {\n};\n}\n',
      'c.h': HEAD + 'namespace m {\nstruct A {\n};\n}\n', 'd.cc': HEAD + 'namespace n {\nstruct A {\n};\n}\n'}, ['b.h:3 types']),
    ('fragments', 'fragments',
     {'a.h': HEAD + 'int x;\n// What it does.\nint a;\n// This says\n// what it does.\nint b;\n  // Of many, one.\nint c;\n// Offers some.\n'},
     ['a.h:3 fragments', 'a.h:8 fragments']),
    ('parameters', 'parameters',
     {'a.h': HEAD + 'int Six(int a, int b, int c, int d, int e, std::map<int, int> f);\n'
             'int Seven(int a, int b, int c,\n          int d, int e, int f, int g);\n'
             'struct S {\n  S(int a, int b, int c, int d, int e, int f, int g) : a_{a} {}\n};\n'
             'std::function<int(int, int, int, int, int, int, int)> Maker(int a);\n'},
     ['a.h:3 parameters', 'a.h:6 parameters']),
    ('letters', 'letters',
     {'a.h': HEAD + 'void F(const Module& m, int i);\nbool Less(const Row& a, const Row& b);\n'
             'template <typename T>\nT Add(const T& x);\nvoid G(Module& module, std::vector<Row>* r) {}\n'},
     ['a.h:2 letters']),
    ('names', 'names',
     {'a.h': HEAD + 'struct bad_type {};\nconstexpr int width = 3;\nconstexpr int kHeight = 3;\n#define MAX 3\n#define ASSAY_MIN 3\n'
             'class Good {\n public:\n  int Size() const { return size_; }\n\n private:\n  int size_ = 0;\n  std::string name;\n'
             '  static constexpr int kMost = 1;\n};\nstruct Row {\n  int size = 0;\n};\n'},
     ['a.h:2 names', 'a.h:3 names', 'a.h:5 names', 'a.h:13 names']),
    ('folders', 'folders', {**{f'full/a{i}.cc': HEAD for i in range(26)}, **{f'fits/a{i}.cc': HEAD for i in range(25)}},
     ['full:1 folders']),
    ('includes', 'includes',
     {'spec/base/strings.h': HEAD + 'std::string StrCat();\n', 'a.h': HEAD + '#include "spec/base/strings.h"\n',
      'a.cc': HEAD + '#include "a.h"\nauto x = StrCat(1);\n', 'b.cc': HEAD + 'auto x = StrCat(1);\n',
      'c.cc': HEAD + 'auto x = absl::StrCat(1);  // StrCat(2)\n',
      'd.cc': HEAD + '#include "gone.h"\nabsl::Span<const int> x;\nstd::unique_ptr<Module> y;\n'},
     ['b.cc:2 includes', 'd.cc:3 includes']),
    ('clock', 'clock', {'a.cc': HEAD + 'double Now() { return 1; }\n', 'spec/base/clock.h': HEAD + 'double Now() {\n}\n'},
     ['a.cc:2 clock']),
    ('one clock', 'clock', {'a.cc': HEAD + 'double Now() { return 1; }\ndouble x = Now();\n'}, []),
    ('dangling', 'dangling',
     {'spec/a.h': HEAD + '// See spec/b.h, spec/gone.h, testdata/x.txt and testdata/*.tsv; NAME/FILE.h is a placeholder.\n'
                  'const char* f = "spec/no.h";  // as `assay run` and `assay walk` do\n',
      'spec/b.h': HEAD, 'spec/testdata/x.txt': '', 'tools/assay/verbs/cmd_run.cc': HEAD,
      'README.md': 'Look into `spec/b.h` and `docs/missing.md`.\n'},
     ['spec/a.h:2 dangling', 'spec/a.h:2 dangling', 'spec/a.h:3 dangling', 'README.md:1 dangling']),
    ('evidence', 'evidence',
     {'docs/verdicts.md': '# Page\n1. This is held. (`a-case`,\n   `Suite.Holds`)\n2. This is not.\n3. Nor is this. (`no-case`,\n   `Suite.Lost`)\n',
      'a/testdata/cases.txt': '== a-case\n', 'a/a_test.cc': HEAD + 'TEST(Suite, Holds) {}\n// TEST(Suite, Lost)\n'},
     ['docs/verdicts.md:4 evidence', 'docs/verdicts.md:5 evidence', 'docs/verdicts.md:6 evidence']),
    ('rooms', 'rooms',
     {'ARCHITECTURE.md': ROOMS,
      'base/low/a.h': HEAD + '#include "base/high/a.h"\n#include "base/low/b.h"\n', 'base/low/b.h': HEAD,
      'base/left/a.h': HEAD + '#include "base/right/a.h"\n#include "base/low/a.h"\n', 'base/right/a.h': HEAD,
      'base/high/a.h': HEAD + '#include "base/left/a.h"\n',
      'base/high/a_test.cc': HEAD + '#include "tower/a.h"\n', 'base/low/a_test.cc': HEAD + '#include "base/high/a.h"\n',
      'tower/a.h': HEAD + '#include "base/high/a.h"\n#include "shed/x.h"\n', 'tower/a_test.cc': HEAD + '#include "shed/x.h"\n',
      'shed/x.h': HEAD + '#include "tower/a.h"\n#include "shed/saw/s.h"\n', 'shed/saw/s.h': HEAD + '#include "shed/x.h"\n',
      'cellar/a.h': HEAD, 'base/attic/a.h': HEAD, 'base/testing/a.h': HEAD, 'tower/top/a.h': HEAD},
     ['base/low/a.h:2 rooms', 'base/left/a.h:2 rooms', 'base/high/a_test.cc:2 rooms', 'tower/a.h:3 rooms', 'shed/x.h:3 rooms',
      'cellar:1 rooms', 'base/attic:1 rooms']),
    ('rooms without a tree', 'rooms', {'ARCHITECTURE.md': 'no tree\n'}, ['ARCHITECTURE.md:1 rooms']),
    ('a room that does not exist', 'rooms', {'ARCHITECTURE.md': '```rooms\nbase/   ground  (uses: -)\n```\n'}, ['ARCHITECTURE.md:1 rooms']),
]
SUBJECTS = [
    ('area: what was done', '', 0),
    ('area: ' + 'x' * 66, '', 0),
    ('area: ' + 'x' * 67, '', 1),
    ('wip', '', 1),
    ('tmp: things', '', 1),
    ('area: one thing, and another', '', 1),
    ('area: one thing, and another', 'Because.', 0),
]


def write(root, files):
    for path, text in files.items():
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, 'w', encoding='utf-8') as file:
            file.write(text)


def commits_of_clones(tidy):
    """Only commits that the remote does not have are looked at; a fresh clone has none of these."""
    failures = []

    def git(folder, *words):
        subprocess.run(['git', '-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'init.defaultBranch=main'] + list(words),
                       cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def expect(folder, what, expected):
        found = [f.message for f in tidy.check(tidy.Tree(folder), ['commits'])]
        if len(found) != expected:
            failures.append(f'commits of {what}: found {found}, expected {expected}')
    with tempfile.TemporaryDirectory(prefix='assay-tidy-') as root:
        origin, clone = os.path.join(root, 'origin'), os.path.join(root, 'clone')
        os.mkdir(origin)
        git(origin, 'init')
        git(origin, 'commit', '--allow-empty', '-m', 'area: the beginning')
        git(origin, 'tag', 'base')
        git(origin, 'commit', '--allow-empty', '-m', 'wip')
        expect(origin, 'a repository without remote and base', 0)
        write(origin, {'tools/tidy.list': 'commits-since base\n'})
        expect(origin, 'a repository with a base', 1)
        git(root, 'clone', origin, clone)
        expect(clone, 'a fresh clone', 0)
        git(clone, 'commit', '--allow-empty', '-m', 'tmp')
        expect(clone, 'a clone with a commit of its own', 1)
    return failures


def run(tidy):
    failures, rules = [], set()
    for name, rule, files, expected in CASES:
        with tempfile.TemporaryDirectory(prefix='assay-tidy-') as root:
            write(root, files)
            found = [f'{f.path}:{f.line} {f.rule}' for f in tidy.check(tidy.Tree(root), rule.split(','))]
        rules.add(rule)
        if sorted(found) != sorted(expected):
            failures.append(f'{name}: found {sorted(found)}, expected {sorted(expected)}')
    for subject, body, errors in SUBJECTS:
        found = list(tidy.subject_errors(subject, body))
        if len(found) != errors:
            failures.append(f'subject {subject!r}: found {found}, expected {errors}')
    if shutil.which('git'):
        failures += commits_of_clones(tidy)
    rules.add('commits')
    if shutil.which('clang-format-22'):
        with tempfile.TemporaryDirectory(prefix='assay-tidy-') as root:
            write(root, {'.clang-format': 'BasedOnStyle: Google\n', 'a.cc': HEAD + 'int  x ;\n', 'b.cc': HEAD + 'int x;\n'})
            found = [f.path for f in tidy.check(tidy.Tree(root), ['format'])]
            if found != ['a.cc']:
                failures.append(f'format: found {found}')
    rules.add('format')
    failures += [f'no case breaks the rule {rule}' for rule in tidy.RULES if rule not in rules]
    for failure in failures:
        print(failure)
    print(f'{len(CASES) + len(SUBJECTS) + 5} cases, {len(failures)} failed')
    return 1 if failures else 0
