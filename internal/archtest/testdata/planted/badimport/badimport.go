// Package badimport imports what its line does not name.
package badimport

import (
	"example.com/planted/low"
	"third.example/lib"
)

// Use keeps the imports.
const Use = lib.Answer

// Err keeps the imports.
func Err() error { return low.ErrNone }
