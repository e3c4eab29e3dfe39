// Package broken does not compile.
package broken

const none int = "none"
