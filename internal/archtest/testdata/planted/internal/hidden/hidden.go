// Package hidden is for this module alone.
package hidden

// Clock is what nobody outside can make.
type Clock struct{}

// Of may show it, since nobody outside sees this package.
func Of() *Clock { return nil }
