// Package logs keeps what goes wrong thousands of times a second, or for hours, from filling the log.
//
//	if unlogged, ok := lines.Allow(now, "refused"); ok {
//		log.Warn("message refused", "unlogged", unlogged)
//	}
//
// A Limit knows causes by their names and belongs to one app, so a cause that many of its entities
// meet at once is still one line: the first at once, and then ever fewer, a second later, two, four,
// down to one in LastPeriod, while it goes on. A cause that was not met for so long begins anew.
package logs

import (
	"slices"
	"time"
)

const (
	// Period is the least time between two log lines of one cause.
	Period = time.Second
	// LastPeriod is what it becomes: a store that fails through a night is a line each half a minute.
	LastPeriod = 30 * time.Second
)

// maxCauses bounds the causes that a Limit knows: more than any program names.
const maxCauses = 64

// Limit decides which lines are logged, along with how many were not. The zero value has logged nothing.
type Limit struct{ causes []cause }

type cause struct {
	name     string
	met      time.Duration // the last time
	next     time.Duration // no line before
	pause    time.Duration // between the last line and the next
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
		l.causes = append(l.causes, cause{name: name, met: now, next: now + Period, pause: Period})
		return 0, true
	}
	c := &l.causes[i]
	quiet := now - c.met
	c.met = now
	if now < c.next {
		c.unlogged++
		return 0, false
	}
	c.pause = min(2*c.pause, LastPeriod)
	if quiet >= LastPeriod {
		c.pause = Period
	}
	unlogged = c.unlogged
	c.next, c.unlogged = now+c.pause, 0
	return unlogged, true
}
