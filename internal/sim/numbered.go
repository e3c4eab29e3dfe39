package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// Calls between any two parts are numbered for each pair, in the state of those who make and who
// handle them, so that a restore takes the numbers back along with the rest. callsNumbered draws
// the conclusions.
const (
	numbersDef = `
		<greeters> <Type> MAP <key> STRING </key> <of> UINT32 </of> </Type> <Flags> CELL_PRIVATE </Flags> </greeters>
		<missed>   <Type> ARRAY <of> STRING </of> </Type> <Flags> CELL_PRIVATE </Flags> </missed>
		<refusals> <Type> ARRAY <of> STRING </of> </Type> <Flags> CELL_PRIVATE </Flags> </refusals>
		<again>    <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </again>
		<uttered>  <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </uttered>
		<echoLife>  <Type> UINT32 </Type> <Flags> BASE </Flags> </echoLife>
		<echo>     <Type> UINT32 </Type> <Flags> BASE </Flags> </echo>
		<echoFrom> <Type> UINT32 </Type> <Flags> BASE </Flags> </echoFrom>
		<skipped>  <Type> UINT32 </Type> <Flags> BASE </Flags> </skipped>
		<paid>     <Type> UINT32 </Type> <Flags> BASE </Flags> </paid>`
	utterDef       = `<utter> <Arg> UINT32 </Arg> <Arg> UINT32 </Arg> </utter>`
	numbersClients = `
		<heardUtter> <Arg> UINT32 </Arg> <Arg> UINT32 </Arg> <DetailDistance> 80 </DetailDistance> </heardUtter>
		<wage> <Arg> UINT32 </Arg> <Arg> UINT32 </Arg> </wage>` + whisperDef
)

// numbers holds the numbered calls of a cell part.
type numbers struct {
	Greeters property.Map[string, uint32] // last number of each caller's client
	Missed   property.Slice[string]       // numbers of theirs that never came
	Refusals property.Slice[string]       // calls of the own client that nobody handled
	Again    property.Uint32              // calls that came twice, or late
	Uttered  property.Uint32              // last number said to the base and to all clients
}

// greeting is the text of a greeting; missing is the name of one that did not come.
func greeting(n uint32) string { return fmt.Sprintf("hello %d", n) }

func missing(from, to entity.ID, n uint32) string { return fmt.Sprintf("%s to %s: %d", from, to, n) }

// count takes a greeting. Greetings of rogues have no numbers.
func (s *numbers) count(self, from entity.ID, text string) {
	var n uint32
	if _, err := fmt.Sscanf(text, "hello %d", &n); err != nil {
		return
	}
	last, _ := s.Greeters.Get(from.String())
	if n <= last {
		s.Again.Set(s.Again.Get() + 1)
		return
	}
	for k := last + 1; k < n; k++ {
		_ = s.Missed.Append(missing(from, self, k))
	}
	_ = s.Greeters.Set(from.String(), n)
}

// deadlyGreeting is how many greetings of a critter have one by which it ends.
const deadlyGreeting = 3

// endedBy notes a greeting in which its target ends.
func (w *world) endedBy(from, to entity.ID, text string) {
	var n uint32
	if _, err := fmt.Sscanf(text, "hello %d", &n); err == nil {
		w.lastCalls[missing(from, to, n)] = true
		w.answers["last calls"]++
	}
}

// toldEnded notes a call of which a caller was told that its target has ended. Whoever was restored may
// make calls again that the former life had made.
func (w *world) toldEnded(r *space.Real, call string, err error) {
	if ended := errors.Is(err, entity.ErrNoEntity) && strings.HasSuffix(err.Error(), "has ended"); ended && w.lastCalls[call] && r.Order().Incarnation == 1 {
		w.untrue = append(w.untrue, call)
	}
}

// refused notes a call of the own client that was refused. The world remembers it too: the incarnation
// that was told may be gone in the next moment, when its base knows a newer one (seed 193932 at
// 0ca804f9).
func (s *numbers) refused(w *world, r *space.Real, c space.RefusedCall) {
	args, err := r.Def().CellMethod("greet").ReadArgs(c.Args)
	if err != nil {
		return
	}
	var n uint32
	if _, err := fmt.Sscanf(args[0].Str(), "hello %d", &n); err == nil {
		_ = s.Refusals.Append(missing(r.ID(), c.Target, n))
		w.refusedCalls[missing(r.ID(), c.Target, n)] = true
		w.toldEnded(r, missing(r.ID(), c.Target, n), c.Err)
	}
}

// utter says the next number to the base and to all clients. After a restore it goes on from where
// the backup was: some numbers are said again, none is left out.
func (s *numbers) utter(r *space.Real) {
	n := s.Uttered.Get() + 1
	if r.Base().Call("utter", r.Order().Incarnation, n) == nil {
		s.Uttered.Set(n)
		_ = r.AllClients().Call("heardUtter", r.Order().Incarnation, n)
	}
}

// OnCallRefused belongs to every script that has numbers.
func (s *walkerCell) OnCallRefused(c space.RefusedCall) { s.refused(s.w, s.Real, c) }

// echo is what a base hears of its cell part and passes on to its client.
type echo struct {
	past
	EchoLife, Echo, Skipped property.Uint32
	EchoFrom                property.Uint32 // incarnation of the cell part that was heard last
	Paid                    property.Uint32
}

// utter checks a number of the cell part. A cell part that was restored from a copy may say what
// the older life had said; so it matters who speaks, and not in which life the number was first
// said.
func (s *echo) utter(id entity.ID, life, n uint32) {
	from := s.cellLife(id)
	if life > from || !follows(s.EchoLife.Get(), s.Echo.Get(), life, n, from != s.EchoFrom.Get()) {
		s.Skipped.Set(s.Skipped.Get() + 1)
	}
	s.EchoFrom.Set(from)
	s.EchoLife.Set(life)
	s.Echo.Set(n)
}

// follows reports whether a number may come after the last one of a caller. It may be the next one.
// After a restore the first may be one that was said before, in whatever life, since a copy can
// have a tail that nobody acknowledged. None is ever left out.
func follows(lastLife, last, life, n uint32, restored bool) bool {
	return n == last+1 && life >= lastLife || restored && n <= last+1
}

// pay says the next number to the client.
func (s *echo) pay(b *entity.Base) {
	if b.HasClient() && b.Client().Call("wage", s.nth, s.Paid.Get()+1) == nil {
		s.Paid.Set(s.Paid.Get() + 1)
	}
}

// ear is what a client has heard in one session.
type ear struct {
	greets map[entity.ID]uint32 // last greeting sent to each
	from   map[*client.Replica][2]uint32
	wage   uint32 // the last one, and the life of the base that paid it
	payer  uint32
	// restored says that the entity has a new cell part, which has said no number yet; retells says
	// that it has told of no greeting.
	restored, retells bool
	whispers          whispers
	faults            []string
}

func newEar() ear {
	return ear{whispers: whispers{}, greets: map[entity.ID]uint32{}, from: map[*client.Replica][2]uint32{}}
}

// greet greets an entity with the next number.
func (pl *player) greet(to entity.ID) error {
	pl.greeted++
	pl.ear.greets[to]++
	return pl.client.Entity(to).Cell().Call("greet", greeting(pl.ear.greets[to]))
}

// hear checks what the server called.
func (pl *player) hear(from *client.Replica, m *property.Method, args []property.Value) {
	if pl.c.deaf {
		return
	}
	e := &pl.ear
	bad := func(format string, a ...any) {
		e.faults = append(e.faults, fmt.Sprintf("%s (%s) heard of %s ", pl.name, pl.id(), from.ID)+fmt.Sprintf(format, a...))
	}
	switch m.Name {
	case "whisper":
		pl.c.world.answers["whispers"]++
		if err := e.whispers.hear(args[0].Str(), uint32(args[1].Uint()), uint32(args[2].Uint()), pl.c.world.bases.again[pl.id()]); err != nil {
			bad("%v", err)
		}
	case "wage":
		if life, n := uint32(args[0].Uint()), uint32(args[1].Uint()); !mayNote(e.payer, e.wage, life, n) {
			bad("wage %d.%d after %d.%d", life, n, e.payer, e.wage)
		}
		e.payer, e.wage = uint32(args[0].Uint()), uint32(args[1].Uint())
	case "heardUtter":
		life, n := uint32(args[0].Uint()), uint32(args[1].Uint())
		was, known := e.from[from]
		switch {
		case !known: // it has met the entity, perhaps anew
		case from == pl.client.Player():
			if !follows(was[0], was[1], life, n, e.restored) {
				bad("its own number %d.%d after %d.%d", life, n, was[0], was[1])
			}
			e.restored = false
		case life != was[0] || n <= was[1]: // it was out of earshot for those in between
			bad("number %d.%d after %d.%d", life, n, was[0], was[1])
		}
		e.from[from] = [2]uint32{life, n}
	}
}

// list is the text of a real's property that is a list of strings.
func list(v space.View, name string) (all []string) {
	if x, ok := v.Get(name); ok {
		for i := range x.Len() {
			all = append(all, x.At(i).Str())
		}
	}
	return all
}

// greetersOf returns the last number that a real has of each caller, in the order of their names.
func greetersOf(script any) (names []string, last map[string]uint32) {
	last = map[string]uint32{}
	var m *property.Map[string, uint32]
	switch s := script.(type) {
	case *walkerCell:
		m = &s.Greeters
	case *roverCell:
		m = &s.Greeters
	case *rockCell:
		m = &s.Greeters
	default:
		return nil, last
	}
	for k, n := range m.All() {
		names = append(names, k)
		last[k] = n
	}
	slices.Sort(names)
	return names, last
}

// based reports whether an entity has a base.
func (c *Cluster) based(id entity.ID) (is bool) {
	for b := range c.bases() {
		is = is || b.ID == id
	}
	return is
}
