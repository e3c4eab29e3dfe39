//go:build amd64 || arm64 || loong64 || mips64le || ppc64le || riscv64 || wasm

package property

// direct says that a Value lies in memory as handles read it: the low bytes of a word come first,
// and a string's bytes and length fill the words ref and lo.
const direct = true
