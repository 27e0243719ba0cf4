#!/bin/sh
# The folder of the archive runs where there is nothing but it and glibc: in a root of its own, if this is run by root, and else by looking
# at where each library comes from.
#
#   tools/archive_test.sh BUILD FOLDER CMAKE
set -eu
build=${1:?usage: archive_test.sh BUILD FOLDER CMAKE} folder=${2:?} cmake=${3:?}
"$cmake" --build "$build" --target archive_folder >"$build/archive.log" 2>&1 || { cat "$build/archive.log"; exit 1; }
fail() { echo "FAILED: $1" >&2; exit 1; }

# Every library is in the folder or is one of glibc.
ldd "$folder/bin/assay" >"$build/archive.ldd"
grep -q 'not found' "$build/archive.ldd" && fail "$(grep 'not found' "$build/archive.ldd")"
others=$(grep '=>' "$build/archive.ldd" | grep -v "=> $folder/" | grep -vE '^\s*lib(c|m|dl|rt|pthread|resolv|util)\.so' || true)
[ -z "$others" ] || fail "libraries from elsewhere: $others"

# No symbol is newer than the promise.
newest=$(for file in "$folder/bin/assay" "$folder"/lib/*.so*; do objdump -T "$file" 2>/dev/null; done | grep -oE 'GLIBC_2\.[0-9]+' | sort -uV | tail -1)
[ "$(printf '%s\nGLIBC_2.36\n' "$newest" | sort -V | tail -1)" = GLIBC_2.36 ] || fail "it needs $newest"
echo "needs $newest; $(ls "$folder/lib" | wc -l) libraries beside it, $(du -sm "$folder" | cut -f1) MB"

if [ "$(id -u)" != 0 ]; then
  echo "not root: not run in a root of its own"
  exit 0
fi
# In a root that is no mount point the kind of propagation cannot be changed; some containers have no namespaces for us at all.
apart="unshare -m --propagation unchanged"
if ! $apart true 2>/dev/null; then
  echo "no mounts of our own here: not run in a root of its own"
  exit 0
fi
root=$build/archive/root
rm -rf "$root"
mkdir -p "$root/lib64" "$root/lib/x86_64-linux-gnu" "$root/opt" "$root/tmp" "$root/dev" "$root/proc"
cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64/"
for library in libc.so.6 libm.so.6 libdl.so.2 librt.so.1 libpthread.so.0; do cp -L "/lib/x86_64-linux-gnu/$library" "$root/lib/x86_64-linux-gnu/"; done
cp -a "$folder" "$root/opt/assay"
printf 'HloModule m\nENTRY e {\n  x = f32[64] parameter(0)\n  ROOT r = f32[64] exponential(x)\n}\n' >"$root/tmp/m.hlo"
# Both compilers: LLVM, and the code generator of our own.
$apart sh -c "mount -t proc proc '$root/proc' && touch '$root/dev/null' '$root/dev/urandom' && mount --bind /dev/null '$root/dev/null' &&
  mount --bind /dev/urandom '$root/dev/urandom' && chroot '$root' /opt/assay/bin/assay check /tmp/m.hlo --backend cpu --db /tmp/a.db &&
  chroot '$root' /opt/assay/bin/assay fuzz --count 20 --seed 1 --db /tmp/a.db --out /tmp/fuzz &&
  chroot '$root' /opt/assay/bin/assay report html --db /tmp/a.db -o /tmp/site" >"$build/archive.run" 2>&1 || { cat "$build/archive.run"; fail "it does not run"; }
grep -q '^1 passed' "$build/archive.run" || { cat "$build/archive.run"; fail "the module did not pass"; }
[ -f "$root/tmp/site/index.html" ] || fail "no site"
rm -rf "$root"
echo "runs in a root of its own with glibc alone"
