// Package lib stands for another module.
package lib

// Answer is used by the planted packages.
const Answer = 42
