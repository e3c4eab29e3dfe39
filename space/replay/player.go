package replay

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/recording"
)

// Config says who hears of what is played.
type Config struct {
	// Schema has the definitions of the world when it was recorded. Required.
	Schema *property.Schema
	// Scripts, Filter and Events are those of a client (client.Config), which hears what it would
	// hear of a world. Of Events only Entered, Left, Moved, RideChanged, PropertyChanged, Called and
	// SpaceData are called. An entity that another cell takes over, or that is restored, goes on.
	Scripts *client.Scripts
	Filter  func(r *client.Replica) client.Filter
	Events  client.Events
}

// Errors of New.
var (
	ErrSchema = errors.New("replay: the recording was made with other definitions; load those that the world had")
	ErrMixed  = errors.New("replay: logs of several recordings")
	ErrEmpty  = errors.New("replay: there is nothing in the logs")
)

// MaxLogs bounds the logs of a recording: cells that have had a part in it.
const MaxLogs = 1 << 16

// rested is how long an entity has not moved when it counts as at rest: two ticks and a half.
const rested = 250 * time.Millisecond

// Player plays a recording: all its logs, merged by game time. It belongs to one goroutine.
type Player struct {
	cfg         Config
	stage       *client.Stage
	sources     []*source
	first, last time.Duration
	now         time.Duration

	tracks []*track // by id
	adrift []*track // of which no log tells now, in the order in which that began
	moving []*track
	graves []grave
	data   uint64 // the newest change of the space's data
	stats  Stats
}

// Stats counts what a Player met.
type Stats struct {
	// Stale counts records about an entity that another log went on with.
	Stale uint64
	// Lost counts entities of which no log told any more.
	Lost uint64
	// Gaps is how many of Player.Gaps have begun.
	Gaps uint64
	// Truncated is how many logs end in the middle of a chunk.
	Truncated int
}

// source is one log as it is played.
type source struct {
	number  int
	log     *recording.Log
	next    int // chunk
	aliases []*alias
	keyed   bool   // a key frame has been read since the last seek
	keys    uint64 // key frames that were begun
	over    bool   // what it held is gone
}

// Gap is a time of which the log of a cell has nothing, since its sink took nothing. What the cell held by
// then is shown where it was, for recording.Grace at most, unless another log has it.
type Gap struct {
	App      string
	From, To time.Duration
}

// Gaps are the gaps of all logs, by the time at which they begin. A log that just ends is that of a cell
// whose CellApp died, which is none.
func (p *Player) Gaps() (all []Gap) {
	for _, s := range p.sources {
		for i := 1; i < s.log.Len(); i++ {
			if h := s.log.Head(i); h.Gap {
				all = append(all, Gap{s.log.App, s.log.Head(i - 1).Game, h.Game})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Gap) int { return cmp.Compare(a.From, b.From) })
	return all
}

// alias is an entity as one log names it.
type alias struct {
	id      entity.ID
	order   entity.Order
	vehicle entity.ID
	spot    recording.Spot // on the vehicle, or in the world
}

// track is an entity that is shown.
type track struct {
	r      *client.Replica
	order  entity.Order
	source *source
	world  recording.Spot // where the last State of one who rides had it
	key    uint64         // the newest key frame of the source that it was in, or came after
	since  time.Duration  // since when it is adrift
	adrift bool
	moved  time.Duration
	moving bool
}

// grave is an entity that has ended, so that an older log does not bring it back.
type grave struct {
	id    entity.ID
	order entity.Order
	at    time.Duration
}

// New returns a player at the beginning of a recording. All logs must be of the same recording.
func New(cfg Config, logs ...*recording.Log) (*Player, error) {
	stage, err := client.NewStage(client.Config{Schema: cfg.Schema, Scripts: cfg.Scripts, Filter: cfg.Filter, Events: cfg.Events})
	if err != nil {
		return nil, err
	}
	p := &Player{cfg: cfg, stage: stage}
	if len(logs) > MaxLogs {
		return nil, fmt.Errorf("replay: %d logs, at most %d can be played", len(logs), MaxLogs)
	}
	for _, l := range logs {
		if l.Digest != cfg.Schema.Digest {
			return nil, ErrSchema
		}
		if l.Space != logs[0].Space || l.Number != logs[0].Number || l.Label != logs[0].Label {
			return nil, fmt.Errorf("%w: %d/%d %q and %d/%d %q", ErrMixed, logs[0].Space, logs[0].Number, logs[0].Label, l.Space, l.Number, l.Label)
		}
		if l.Truncated != nil {
			p.stats.Truncated++
		}
		if l.Len() > 0 {
			p.add(l)
		}
	}
	if len(p.sources) == 0 {
		return nil, ErrEmpty
	}
	// Ties of time have an order that does not hang on how the logs were found.
	slices.SortStableFunc(p.sources, func(a, b *source) int {
		return cmp.Or(cmp.Compare(a.log.Head(0).Game, b.log.Head(0).Game), cmp.Compare(a.log.App, b.log.App), cmp.Compare(a.log.Cell, b.log.Cell))
	})
	for i, s := range p.sources {
		s.number = i
	}
	p.now = p.first
	return p, nil
}

func (p *Player) add(l *recording.Log) {
	first, last := l.Head(0).Game, l.Head(l.Len()-1).Game
	if len(p.sources) == 0 {
		p.first, p.last = first, last
	}
	p.first, p.last = min(p.first, first), max(p.last, last)
	p.sources = append(p.sources, &source{log: l})
}

// Span is the game time of the first and of the last chunk.
func (p *Player) Span() (first, last time.Duration) { return p.first, p.last }

// Now is the game time up to which all is played.
func (p *Player) Now() time.Duration { return p.now }

// Client has the entities as they are now: Client.Entities, Client.Entity, Client.SpaceData. It has no
// session. Its clock, for Replica.Shown and Replica.Age, is Now.
func (p *Player) Client() *client.Client { return p.stage.Client() }

// Stats counts what was met since New, in all that was played.
func (p *Player) Stats() Stats { return p.stats }

// Step plays what is next: the chunks of one moment. It reports false at the end.
func (p *Player) Step() (more bool, err error) {
	at, more := p.nextGame()
	if !more {
		return false, nil
	}
	return true, p.Advance(max(at, p.now))
}

func (p *Player) nextGame() (at time.Duration, more bool) {
	s := p.nextSource()
	if s == nil {
		return 0, false
	}
	return s.log.Head(s.next).Game, true
}

// nextSource is the log whose next chunk is the earliest.
func (p *Player) nextSource() (first *source) {
	for _, s := range p.sources {
		if s.next < s.log.Len() && (first == nil || s.log.Head(s.next).Game < first.log.Head(first.next).Game) {
			first = s
		}
	}
	return first
}

// Advance plays all up to a time. An earlier one than Now plays nothing; see Seek. An error is of a
// log that cannot be read, or says nothing that makes sense; what is before it was played.
func (p *Player) Advance(to time.Duration) error {
	for s := p.nextSource(); s != nil && s.log.Head(s.next).Game <= to; s = p.nextSource() {
		h := s.log.Head(s.next)
		p.setNow(max(p.now, h.Game))
		p.expire()
		i := s.next
		s.next++
		if err := p.play(s, i, h); err != nil {
			return fmt.Errorf("replay: log of %s, chunk %d: %w", s.log.App, i, err)
		}
		p.beginGap(s)
	}
	p.setNow(max(p.now, to))
	p.expire()
	return nil
}

func (p *Player) setNow(now time.Duration) {
	p.now = now
	p.stage.SetNow(now)
}

// Seek goes to a time, earlier or later. Who hears is told that all entities leave, and that those of
// that time enter, with nothing in between.
func (p *Player) Seek(to time.Duration) error {
	to = min(max(to, p.first), p.last)
	p.stage.Clear()
	p.stage.Mute(true)
	defer p.stage.Mute(false)
	p.tracks, p.adrift, p.moving, p.graves, p.data = nil, nil, nil, nil, 0
	// What is adrift at that time was told of at most Grace before, and all logs have a key frame at
	// the boundary before that.
	from := (to - recording.Grace).Truncate(recording.KeyPeriod) - recording.KeyPeriod
	p.now = p.first
	for _, s := range p.sources {
		s.rewind(from)
	}
	return p.Advance(to)
}

// rewind goes to the key frame of a boundary, or to the last one before it if there is none soon after.
func (s *source) rewind(from time.Duration) {
	n := s.log.Len()
	at := sort.Search(n, func(i int) bool { return s.log.Head(i).Game >= from })
	if at < n && s.log.Head(at).Game > from+recording.KeyPeriod/2 { // it was still for a while
		for at > 0 && !s.log.Head(at).Key {
			at--
		}
	}
	*s = source{number: s.number, log: s.log, next: at, over: at == n}
}
