// Package logs keeps what goes wrong thousands of times a second from filling the log.
//
//	if unlogged, ok := lines.Allow(now, "refused"); ok {
//		log.Warn("message refused", "unlogged", unlogged)
//	}
//
// A Limit knows causes by their names and belongs to one app, so a cause that many of its entities
// meet at once is still one line a second.
package logs

import (
	"slices"
	"time"
)

// Period is the least time between two log lines of one cause.
const Period = time.Second

// maxCauses bounds the causes that a Limit knows: more than any program names.
const maxCauses = 64

// Limit decides which lines are logged: of each cause the first, then one in each Period, along
// with how many were not. The zero value has logged nothing.
type Limit struct{ causes []cause }

type cause struct {
	name     string
	next     time.Duration
	unlogged int
}

// Allow reports whether a line about a cause may be logged now, and how many were left out since
// the last one. Causes are few: they are constants of the program.
func (l *Limit) Allow(now time.Duration, name string) (unlogged int, ok bool) {
	i := slices.IndexFunc(l.causes, func(c cause) bool { return c.name == name })
	if i < 0 {
		if len(l.causes) >= maxCauses {
			return 0, false
		}
		l.causes = append(l.causes, cause{name: name, next: now + Period})
		return 0, true
	}
	c := &l.causes[i]
	if now < c.next {
		c.unlogged++
		return 0, false
	}
	unlogged = c.unlogged
	c.next, c.unlogged = now+Period, 0
	return unlogged, true
}
