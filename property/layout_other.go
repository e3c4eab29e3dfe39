//go:build !(amd64 || arm64 || loong64 || mips64le || ppc64le || riscv64 || wasm)

package property

// direct: handles convert what they read.
const direct = false
