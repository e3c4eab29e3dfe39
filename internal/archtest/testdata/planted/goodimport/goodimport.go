// Package goodimport imports what its line names.
package goodimport

import (
	"example.com/planted/low"
	"third.example/lib"
)

// Use keeps the imports.
const Use = lib.Answer

// Err keeps the imports.
func Err() error { return low.ErrNone }
