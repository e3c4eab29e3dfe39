package sim

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/recording"
	playback "github.com/cellscape/cellscape/space/replay"
)

// tapes records the players' space in a run with Options.Recorded, and holds what is played back to what the
// cells had. In the bad time its sinks are full now and then, or fail.
type tapes struct {
	c      *Cluster
	chance *rand.Rand
	logs   []*tapeLog
	fullTo time.Duration // nothing is taken until then
	mended time.Duration // a cell whose sink has failed records again by then
	truth  map[entity.ID][]glimpse
	// refused, matched and late say how much was refused, and how what is shown compares.
	refused, matched, late int
}

type tapeLog struct {
	t     *tapes
	p     *Process
	cell  string
	bytes []byte
}

// glimpse is what an app had of an entity, from one game time to another.
type glimpse struct {
	order    entity.Order
	from, to time.Duration
	position property.Vector3
	vehicle  entity.ID
	withheld bool
	props    []uint64 // hashes of what a recording shows of it
}

func newTapes(c *Cluster) *tapes {
	return &tapes{c: c, chance: rand.New(rand.NewPCG(c.opts.Seed, 0x7a9e)), truth: make(map[entity.ID][]glimpse)}
}

// record has the run recorded, if its options say so.
func (c *Cluster) record() {
	if c.opts.Recorded {
		c.tapes = newTapes(c)
		c.checkers = append(c.checkers, c.tapes)
	}
}

// recorder is the sink of one process, nil in a run that is not recorded.
func (c *Cluster) recorder(p *Process) recording.Sink {
	if c.tapes == nil {
		return nil
	}
	return tapeSink{c.tapes, p}
}

type tapeSink struct {
	t *tapes
	p *Process
}

var errBroken = errors.New("the disk is broken")

// mendedIn is how long a cell does not try a sink that has failed, and a tick of a slow one.
const mendedIn = 31 * time.Second

// taped reports whether all cells record again.
func (c *Cluster) taped() bool { return c.tapes == nil || c.now >= c.tapes.mended }

// Open implements recording.Sink.
func (s tapeSink) Open(h *recording.Header) (recording.Stream, error) {
	if h.Space != theSpace {
		return nil, errBroken
	}
	l := &tapeLog{t: s.t, p: s.p, cell: h.Cell, bytes: recording.AppendLog(nil, h)}
	s.t.logs = append(s.t.logs, l)
	return l, nil
}

// Append implements recording.Stream.
func (l *tapeLog) Append(chunk []byte) error {
	t, h := l.t, recording.Head{}
	if t.c.bad && t.c.now >= t.fullTo {
		switch t.chance.IntN(800) {
		case 0:
			t.fullTo = t.c.now + time.Duration(t.chance.IntN(15_000))*time.Millisecond
		case 1:
			t.refused++
			t.mended = t.c.now + mendedIn
			return errBroken
		}
	}
	if t.c.bad && t.c.now < t.fullTo {
		t.refused++
		return recording.ErrFull
	}
	h, err := recording.ReadHead(chunk)
	if err != nil {
		return err
	}
	l.bytes = recording.AppendFrame(l.bytes, chunk)
	for v := range t.c.viewsOf(l.p) {
		if v.cell.Space() == theSpace && v.IsReal() {
			t.note(v.View, h.Game)
		}
	}
	return nil
}

// Close implements recording.Stream.
func (l *tapeLog) Close() error { return nil }

// note notes what a real is at a game time.
func (t *tapes) note(v space.View, game time.Duration) {
	if !v.Def().HasClient {
		return
	}
	m := glimpse{order: v.Order(), from: game, to: game, position: v.Position(), vehicle: v.Vehicle(), props: propsOf(v.Def(), v.Get)}
	if s, ok := v.Script().(interface{ Withheld() bool }); ok {
		m.withheld = s.Withheld()
	}
	all := t.truth[v.ID()]
	if n := len(all); n > 0 {
		last := &all[n-1]
		if m.order == last.order && m.position == last.position && m.vehicle == last.vehicle && m.withheld == last.withheld && slices.Equal(m.props, last.props) {
			last.to = max(last.to, game)
			return
		}
	}
	t.truth[v.ID()] = append(all, m)
}

// propsOf has a hash of each property that a recording shows of a cell part.
func propsOf(d *property.Definition, get func(name string) (property.Value, bool)) (all []uint64) {
	for _, i := range d.Stream(property.CellReplayStream) {
		h := fnv.New64a()
		v, _ := get(d.Properties[i].Name)
		fmt.Fprint(h, v)
		all = append(all, h.Sum64())
	}
	return all
}

// shownOf is that of what is shown.
func shownOf(r *client.Replica) []uint64 {
	return propsOf(r.Def, func(name string) (property.Value, bool) { return r.Props.Get(r.Def.Property(name).Index), true })
}

// safe implements checker: it only looks.
func (t *tapes) safe() error {
	for v := range t.c.reals() {
		if v.cell.Space() == theSpace {
			t.note(v.View, v.Now())
		}
	}
	return nil
}

// converged implements checker: all recordings are played. The last one ends with what is.
func (t *tapes) converged() error {
	var numbers []uint64
	byNumber := make(map[uint64][]*recording.Log)
	for _, l := range t.logs {
		log, err := recording.ReadLog(bytes.NewReader(l.bytes), int64(len(l.bytes)))
		if err != nil {
			return err
		}
		if !slices.Contains(numbers, log.Number) {
			numbers = append(numbers, log.Number)
		}
		byNumber[log.Number] = append(byNumber[log.Number], log)
	}
	slices.Sort(numbers)
	if len(numbers) == 0 {
		return errors.New("recording: nothing was recorded")
	}
	for i, n := range numbers {
		if err := t.play(byNumber[n], i == len(numbers)-1); err != nil {
			return fmt.Errorf("recording %d, of %d logs: %w", n, len(byNumber[n]), err)
		}
	}
	if t.late > t.matched { // sinks refuse, and processes pause
		return fmt.Errorf("recording: %d times what is shown was not so two ticks ago at most, and %d times it was", t.late, t.matched)
	}
	return nil
}

// play plays one recording from its first moment to its last.
func (t *tapes) play(logs []*recording.Log, last bool) error {
	p, err := playback.New(playback.Config{Schema: t.c.world.schema}, logs...)
	if errors.Is(err, playback.ErrEmpty) && !last {
		return nil
	}
	if err != nil {
		return err
	}
	for at := time.Duration(math.MinInt64); ; {
		more, err := p.Step()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if p.Now() >= at {
			at = p.Now() + 300*time.Millisecond
			if err := t.wasSo(p); err != nil {
				return err
			}
		}
	}
	if !last {
		return nil
	}
	if err := t.isSo(p); err != nil {
		return err
	}
	return t.seeks(p)
}

// tickWay is how far who is handed over within a tick may have gone in it, on foot: nobody has looked at it
// there, nor at the changes of its properties.
const tickWay = 6

// wasSo demands that an entity was where it is shown, at a moment within the last Grace. It counts how often
// that, with all properties, is the newest that was so, or was so two ticks ago at most.
func (t *tapes) wasSo(p *playback.Player) error {
	const slack = 2 * time.Second // the clocks of cells differ while processes pause
	now := p.Now()
	for r := range p.Client().Entities() {
		var newest glimpse
		place, all, shown := false, false, shownOf(r)
		for _, m := range t.truth[r.ID] {
			if m.from <= now && !m.order.Before(newest.order) {
				newest = m
			}
			if m.from > now+slack || m.to < now-recording.Grace-slack || m.withheld {
				continue
			}
			place = place || r.Vehicle() != 0 && r.Vehicle() == m.vehicle || r.Vehicle() == 0 && near(r.Position, m.position, tickWay)
			all = all || slices.Equal(m.props, shown) && m.from <= now+2*tick && m.to >= now-2*tick && (r.Vehicle() != 0 || near(r.Position, m.position, exact))
		}
		if !place {
			return fmt.Errorf("at %v %s %v is shown at %v on %v, where it was not; it was %+v", now, r.Def.Name, r.ID, r.Position, r.Vehicle(), newest)
		}
		if all || slices.Equal(newest.props, shown) && (r.Vehicle() != 0 || near(r.Position, newest.position, exact)) {
			t.matched++
		} else {
			t.late++
		}
	}
	return nil
}

// exact is how far off places are that were rounded.
const exact = recording.Resolution/2 + 1e-3

func near(a, b property.Vector3, most float64) bool {
	off := func(a, b float32) bool { return math.Abs(float64(a-b)) <= most }
	return off(a.X, b.X) && off(a.Y, b.Y) && off(a.Z, b.Z)
}

// isSo demands that at rest all is shown as it is, and nobody who is not there.
func (t *tapes) isSo(p *playback.Player) error {
	var faults []error
	there := make(map[entity.ID]bool)
	for v := range t.c.reals() {
		if v.cell.Space() != theSpace || !v.Def().HasClient {
			continue
		}
		there[v.ID()] = true
		r := p.Client().Entity(v.ID())
		switch {
		case r == nil:
			faults = append(faults, fmt.Errorf("%s %v on %s is not shown", v.Def().Name, v.ID(), v.p.Name))
		case r.Vehicle() != 0 && r.Vehicle() != v.Vehicle() || r.Vehicle() == 0 && !near(r.Position, v.Position(), exact):
			faults = append(faults, fmt.Errorf("%s %v is at %v on %v, and shown at %v on %v", v.Def().Name, v.ID(), v.Position(), v.Vehicle(), r.Position, r.Vehicle()))
		case !slices.Equal(propsOf(v.Def(), v.Get), shownOf(r)):
			faults = append(faults, fmt.Errorf("%s %v is shown with other properties than it has", v.Def().Name, v.ID()))
		}
	}
	for r := range p.Client().Entities() {
		if all := t.truth[r.ID]; !there[r.ID] && (len(all) == 0 || all[len(all)-1].to < p.Now()-recording.Grace-time.Second) {
			faults = append(faults, fmt.Errorf("%s %v is shown, and is no more", r.Def.Name, r.ID))
		}
	}
	return errors.Join(faults...)
}

// seeks demands that after a seek the same is shown as after all was played up to there.
func (t *tapes) seeks(p *playback.Player) error {
	first, last := p.Span()
	for range 5 {
		at := first + time.Duration(t.chance.Int64N(int64(last-first)+1))
		if err := p.Seek(at); err != nil {
			return err
		}
		if err := t.wasSo(p); err != nil {
			return fmt.Errorf("after a seek to %v: %w", at, err)
		}
		sought := shownBy(p)
		if err := p.Seek(first); err != nil {
			return err
		}
		if err := p.Advance(at); err != nil {
			return err
		}
		if played := shownBy(p); !slices.Equal(sought, played) {
			return fmt.Errorf("a seek to %v shows %v, and to play it shows %v", at, sought, played)
		}
	}
	return p.Seek(last)
}

// shownBy is what a player shows, by id.
func shownBy(p *playback.Player) (all []string) {
	ids := []entity.ID{}
	for r := range p.Client().Entities() {
		ids = append(ids, r.ID)
	}
	slices.SortFunc(ids, cmp.Compare[entity.ID])
	for _, id := range ids {
		r := p.Client().Entity(id)
		all = append(all, fmt.Sprintf("%v at %v on %v with %x", id, r.Position, r.Vehicle(), shownOf(r)))
	}
	return all
}
