// Package state holds what no one was given.
package state

import (
	"errors"
	"flag"
)

// ErrFine may be.
var ErrFine = errors.New("fine")

var count, names = 0, map[string]int{}

var list = []struct{ n int }{{1}} // named in the table of variables

func init() { count++; names[""]++ }

// Write does it in every way.
func Write() *int {
	ErrFine = nil
	(list[0]).n = 2
	clear(list)
	delete(names, "")
	flag.Usage = nil
	count := 1 // another
	count++
	return &list[0].n
}
