package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// A base whose BaseApp dies goes on from its newest copy, in another life. What it did of itself after
// that copy is undone, and it does it again, as it likes. So what a base says by itself comes with its
// life. Whoever hears it takes the numbers of one life in order, each once; the first of a later life may be
// one that was said before, or the next one, but none is left out, and a former life is not heard again.
// What a copy was known to have is not said again by any life: see commits.
//
// So is it with a base that goes back to its copy since its script has panicked. What it had said after
// the copy has left, and is not taken back: until its next life says something, its cell part is ahead.

// past is what the script of a base knows of its lives.
type past struct {
	w   *world   `cellscape:"local"`
	on  *Process `cellscape:"local"`
	nth uint32   `cellscape:"local"` // of all lives of bases that were restored; 0 for a first one
}

// cellLife is the incarnation of the cell part in which a base of this process believes.
func (p *past) cellLife(id entity.ID) uint32 { return p.w.incarnation(p.on, id) }

// bookOfBases is what is known of bases from outside.
type bookOfBases struct {
	lives uint32 // of bases that were restored
	// again are the noters among them: what such a base had handed on since its copy it hands on again.
	again map[entity.ID]bool
	// kept is the number up to which each base was told that others have a copy of what it said.
	kept    map[entity.ID]uint32
	faults  []error
	sayings map[entity.ID]saying
	// behind are lives that began with less than was kept. That is a fault unless their app learns that it
	// was declared dead, and that the true heir is another.
	behind []lifeBehind
}

type lifeBehind struct {
	on     *Process
	starts int
	at     time.Duration
	err    error
}

// saying is what all lives of a base have said to its present cell part.
type saying struct {
	most uint32 // the highest number
	// silent says that nothing was said since the script panicked, at a time.
	silent bool
	at     time.Duration
}

// speaksIn is how soon a base says the next number after a panic, unless the world stands still: after
// some beats.
const speaksIn = 2 * time.Second

// learnsIn is how soon an app that was declared dead learns it, once it is back.
const learnsIn = 4 * time.Second

// noter is a base that says numbers to its cell part.
type noter struct{ Sent property.Uint32 }

// commits is how many numbers a base says between two commit points.
const commits = 8

// note says the next number. Now and then it has it kept.
func (s *noter) note(b *entity.Base, p *past) bool {
	n := s.Sent.Get() + 1
	if b.Cell().Call("note", p.nth, n) != nil {
		return false
	}
	s.Sent.Set(n)
	p.w.bases.say(b.ID(), saying{most: n})
	if n%commits == 0 {
		if err := b.Backup("OnKept", int64(n)); err != nil {
			p.w.bases.faults = append(p.w.bases.faults, fmt.Errorf("base %v has no commit point: %w", b.ID(), err))
		}
	}
	return true
}

// crumble panics in the name of a base.
func (s *noter) crumble(b *entity.Base, p *past) {
	p.w.bases.say(b.ID(), saying{silent: true, at: p.on.c.now})
	panic(wantedPanic)
}

// say notes what has become of a base.
func (k *bookOfBases) say(id entity.ID, x saying) {
	if k.sayings == nil {
		k.sayings = map[entity.ID]saying{}
	}
	x.most = max(x.most, k.sayings[id].most)
	k.sayings[id] = x
}

// startAnew begins the numbers anew, for another cell part.
func (s *noter) startAnew(b *entity.Base, p *past) {
	s.Sent.Set(0)
	delete(p.w.bases.sayings, b.ID())
}

// kept hears that others have a copy of everything up to a number.
func (p *past) kept(id entity.ID, c entity.Callback) {
	if p.w.bases.kept == nil {
		p.w.bases.kept = map[entity.ID]uint32{}
	}
	p.w.bases.kept[id] = max(p.w.bases.kept[id], uint32(c.User))
}

// begin begins the next life.
func (s *noter) begin(b *entity.Base, p *past) {
	k := &p.w.bases
	k.lives++
	p.nth = k.lives
	if k.again == nil {
		k.again = map[entity.ID]bool{}
	}
	k.again[b.ID()] = true
	if had := k.kept[b.ID()]; s.Sent.Get() < had {
		k.behind = append(k.behind, lifeBehind{p.on, p.on.starts, p.on.c.now, fmt.Errorf("promise 6: base %v goes on from its number %d on %s, and a copy was known to have %d", b.ID(), s.Sent.Get(), p.on.Name, had)})
	}
}

// noting is a cell part that hears them.
type noting struct{ Noted, NotedLife, NotedMost, Faults property.Uint32 }

// Note counts the base's numbers: they come in order, each once, whatever moves or dies in between. A
// cell part that has heard none yet may be another one of a restored base: the former life had ended
// the one before, which the next life hears, and does not know why. A life may go on from a newer copy
// than the one before it, which was over before it had one: with the number after the most of all.
func (s *noting) Note(life, n uint32) {
	last, most := s.Noted.Get(), s.NotedMost.Get()
	another := last == 0 && life > 0
	newer := life > s.NotedLife.Get() && n == most+1
	if !another && !newer && !mayNote(s.NotedLife.Get(), last, life, n) {
		s.Faults.Set(s.Faults.Get() + 1)
	}
	s.NotedLife.Set(life)
	s.Noted.Set(n)
	s.NotedMost.Set(max(most, n))
}

// agree reports whether a cell part has handled what its base has said, and nothing else. The one of a
// base that goes on after a panic may be ahead of it: by what former lives have said, and not for longer
// than until the base speaks again.
func (c *Cluster) agree(id entity.ID, sent, noted uint32) bool {
	x := c.world.bases.sayings[id]
	return noted == sent || x.silent && sent < noted && noted <= x.most && c.stillAt < x.at+speaksIn
}

// mayNote reports whether a number of a life of a base may come after the last one.
func mayNote(lastLife, last, life, n uint32) bool {
	return life >= lastLife && n == last+1 || life > lastLife && 0 < n && n <= last
}

// basesKept checks promise 6 for bases: a restored one has all that it was told is kept.
type basesKept struct{ c *Cluster }

func (k *basesKept) safe() error { return k.after(learnsIn) }

func (k *basesKept) converged() error { return k.after(0) }

func (k *basesKept) after(wait time.Duration) error {
	b := &k.c.world.bases
	faults := slices.Clone(b.faults)
	for _, x := range b.behind {
		if x.on.starts == x.starts && k.c.now >= x.at+wait {
			faults = append(faults, x.err)
		}
	}
	return errors.Join(faults...)
}
