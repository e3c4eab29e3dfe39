// Package shown shows what belongs to an internal package, in every way in which a name can.
package shown

import "example.com/planted/internal/hidden"

// Time returns one.
func Time(at map[string][]*hidden.Clock, f func() hidden.Clock) (chan hidden.Clock, [2]hidden.Clock) {
	return nil, [2]hidden.Clock{}
}

// Excepted is named in the table.
func Excepted(*hidden.Clock) {}

// Face has a field and a method that show one, and others that do not.
type Face struct {
	Hand  hidden.Clock
	inner hidden.Clock
}

// Set shows one.
func (Face) Set(hidden.Clock) {}

func (f Face) get() hidden.Clock { return f.inner }

// Setter shows one, as Face does.
type Setter interface{ Set(hidden.Clock) }

// List shows one as its argument.
type List = []Of[hidden.Clock]

// Of shows nothing.
type Of[T any] struct{ Value T }

// Private does not count: nobody sees it.
func private(hidden.Clock) {}

// Fine shows names of this package alone.
func Fine(Face, Setter) {}
