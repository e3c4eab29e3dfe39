package sim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// Gossips call each other: base and cell parts call base and cell parts, by every kind of mailbox
// that leads there, with and without an answer. They walk about, end, and have others made in their
// place. Every other question is answered later, from a beat of the one that was asked. All calls
// are numbered for each pair of ends, in the state of both, so that a restore takes the numbers
// back along with the rest.
//
// A cell part calls when its base says so. Such calls a restored cell part makes again, the same ones,
// and it is for the library to know them. It also muses by itself, as it walks. What it had mused since
// its backup, a restored one muses again, with the same numbers in its new life. But what the backup
// has, it must not be heard to say twice.
//
// A base that is restored may call others than before. So its calls, and those that its cell part makes for
// it, come with the life of the base. It is the base that numbers both: a cell part may have made calls for a
// former life that the present one has forgotten, and forgets them, too, when it is restored itself. If it
// numbered them, those of the present life would have other numbers then.

const gossipDef = `
<root>
	<Properties>
` + gossipCellDef + `		<fellow> <Type> BOOL </Type> <Flags> BASE </Flags> </fellow>
		<ordered> <Type> MAP <key> STRING </key> <of> UINT32 </of> </Type> <Flags> BASE </Flags> </ordered>
		<told>   <Type> MAP <key> STRING </key> <of> UINT32 </of> </Type> <Flags> BASE </Flags> </told>
		<ears>   <Type> MAP <key> STRING </key> <of> UINT64 </of> </Type> <Flags> BASE </Flags> </ears>
		<waits>  <Type> MAP <key> UINT32 </key> <of> STRING </of> </Type> <Flags> BASE </Flags> </waits>
		<owes>   <Type> MAP <key> UINT64 </key> <of> UINT32 </of> </Type> <Flags> BASE </Flags> </owes>
		<begged> <Type> UINT32 </Type> <Flags> BASE </Flags> </begged>
		<amiss>  <Type> ARRAY <of> STRING </of> </Type> <Flags> BASE </Flags> </amiss>
	</Properties>
	<CellMethods>
		<speak> <Arg> ENTITY_ID </Arg> <Arg> UINT8 </Arg> <Arg> BOOL </Arg> <Arg> UINT32 </Arg> <Arg> UINT32 </Arg> </speak>
` + gossipHearDef + `		<muse> <Arg> STRING </Arg> <Arg> UINT32 </Arg> <Arg> UINT32 </Arg> </muse>
	</CellMethods>
	<BaseMethods>
		<museBase> <Arg> STRING </Arg> <Arg> UINT32 </Arg> <Arg> UINT32 </Arg> </museBase>
		<hearBase> <Args> <of> STRING </of> <life> UINT32 </life> <n> UINT32 </n> </Args> <ReturnValues> <n> UINT32 </n> <by> STRING </by> </ReturnValues> </hearBase>
	</BaseMethods>
</root>`

// gossipCellDef and gossipHearDef are what every cell part of a gossip has.
const (
	gossipCellDef = `
		<said>   <Type> MAP <key> STRING </key> <of> UINT32 </of> </Type> <Flags> CELL_PRIVATE </Flags> </said>
		<heard>  <Type> MAP <key> STRING </key> <of> UINT64 </of> </Type> <Flags> CELL_PRIVATE </Flags> </heard>
		<heir>   <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </heir>
		<open>   <Type> MAP <key> UINT32 </key> <of> STRING </of> </Type> <Flags> CELL_PRIVATE </Flags> </open>
		<owed>   <Type> MAP <key> UINT64 </key> <of> UINT64 </of> </Type> <Flags> CELL_PRIVATE </Flags> </owed>
		<asked>  <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </asked>
		<faults> <Type> ARRAY <of> STRING </of> </Type> <Flags> CELL_PRIVATE </Flags> </faults>
		<friend> <Type> ENTITY_ID </Type> <Flags> CELL_PRIVATE </Flags> </friend>
`
	gossipHearDef = `
		<hear> <Args> <of> STRING </of> <life> UINT32 </life> <n> UINT32 </n> </Args> <ReturnValues> <n> UINT32 </n> <by> STRING </by> </ReturnValues> </hear>
`
)

const (
	// gossipWithin is how long a call may take, in game time.
	gossipWithin = 8 * time.Second
	// slowestGossip is the same where the clock of a space runs as slowly as it may: for so long the
	// world waits for answers before it freezes, in which nothing times out.
	slowestGossip = 5 * gossipWithin
	// refusedEvery is how many calls have one that the called method answers with an error.
	refusedEvery = 3
	// laterEvery is how many calls have one that the called method answers later.
	laterEvery = 2
	// lastCallEvery is how many calls, by the number and the callee, have one by which a callee ends that
	// may.
	lastCallEvery = 8
)

func errGossip() *entity.GameError { return &entity.GameError{Code: 77, Text: "I will not listen"} }

// pairOf names what one part says to another by one way, for the numbers. Both kinds of mailboxes that
// lead to a cell part are one way.
func pairOf(id entity.ID, part entity.Part, kind entity.MailboxKind) string {
	way := kind.Part().String()
	switch kind {
	case entity.BaseViaCell:
		way = "relay"
	case entity.ClientViaCell:
		way = "client relay"
	}
	return fmt.Sprintf("%v %v %s", id, part, way)
}

// tongue is what a part of a gossip has of its calls, in its properties.
type tongue interface {
	life() uint32 // of the base
	lookup(id entity.ID, kind entity.MailboxKind) entity.Mailbox
	self() (entity.ID, entity.Part)
	said(pair string) uint32
	say(pair string, n uint32)
	heard(pair string) heardCall
	hear(pair string, x heardCall)
	may(last heardCall, life, n uint32) bool
	begin(pair string) (user uint32)
	end(user uint32) (pair string, open bool)
	fault(format string, args ...any)
	answerer() answerer
	owe(token entity.AnswerToken, n uint32)
}

// heardCall is the last call of a pair, and in which life it was said.
type heardCall struct{ life, n uint32 }

func heardOf(v uint64) heardCall { return heardCall{uint32(v >> 32), uint32(v)} }

func (x heardCall) value() uint64 { return uint64(x.life)<<32 | uint64(x.n) }

// answerer is either part of an entity.
type answerer interface {
	Later() (entity.AnswerToken, error)
	Answer(token entity.AnswerToken, results ...any) error
	Fail(token entity.AnswerToken, err error) error
}

// speak makes the next call of a part.
func speak(t tongue, to entity.ID, kind entity.MailboxKind, asks bool) {
	speakAs(t, to, kind, asks, t.said(pairOf(to, 0, kind))+1)
}

// speakAs makes a call with a number.
func speakAs(t tongue, to entity.ID, kind entity.MailboxKind, asks bool, n uint32) {
	id, part := t.self()
	to1 := pairOf(to, 0, kind)
	m := t.lookup(to, kind)
	user := uint32(0)
	if asks = asks && kind.Part() != entity.ClientPart; asks { // a client does not answer
		user = t.begin(fmt.Sprintf("%s %d", to1, n))
		m = m.Then("OnHeard", int64(user)).Within(gossipWithin)
	}
	method := "hear"
	switch kind.Part() {
	case entity.BasePart:
		method = "hearBase"
	case entity.ClientPart:
		method = "whisper"
	}
	if err := m.Call(method, pairOf(id, part, kind), t.life(), n); err != nil {
		if asks {
			t.end(user)
		}
		return
	}
	t.say(to1, n)
}

// repeats reports whether a call is one that a part has handed on before and, restored, hands on
// again: a cell part, or a base of which that is known.
func repeats(pair string, last heardCall, life, n uint32, base bool) bool {
	return (base || strings.HasSuffix(pair, "relay")) && life <= last.life && n <= last.n
}

// listen handles a call: the numbers of a pair come in order, each once, and none is left out. What a
// cell part hands on to its base may come again after that cell part was restored. The first call of a later
// life may have a number that came before.
func listen(t tongue, pair string, life, n uint32) (uint32, string, error) {
	id, part := t.self()
	last := t.heard(pair)
	if !repeats(pair, last, life, n, false) {
		if !t.may(last, life, n) {
			t.fault("%v %v heard %d of life %d after %d of %d of %s", id, part, n, life, last.n, last.life, pair)
		}
		t.hear(pair, heardCall{life, n})
	}
	if n%laterEvery == 0 {
		token, err := t.answerer().Later()
		if err != nil {
			t.fault("%v %v answers %d of %s later: %v", id, part, n, pair, err)
		}
		if token != 0 {
			t.owe(token, n)
			return 0, "", nil
		}
	}
	if n%refusedEvery == 0 {
		return 0, "", errGossip()
	}
	return n, id.String(), nil
}

// lastCall reports whether a part ends by a call, which it answers at once, and notes that.
func (w *world) lastCall(t tongue, pair string, life, n uint32) bool {
	id, _ := t.self()
	if w.calm || w.hush || n%laterEvery == 0 || (uint64(id)+uint64(n))%lastCallEvery != 0 || life < t.heard(pair).life {
		return false
	}
	w.answers["last calls"]++
	w.lastCalls[lastCallOf(pair, id, life, n)] = true
	return true
}

func lastCallOf(pair string, by entity.ID, life, n uint32) string {
	return fmt.Sprintf("%s to %v in life %d: %d", pair, by, life, n)
}

// madeOf is a call that a part has made, as lastCallOf has it; call is what begin was given.
func madeOf(t tongue, call string, to entity.ID) string {
	f := strings.Fields(call) // whom, no part, the way there, the number
	id, part := t.self()
	return fmt.Sprintf("%v %v %s to %v in life %d: %s", id, part, f[len(f)-2], to, t.life(), f[len(f)-1])
}

// answerLater answers a call that it has kept, and reports whether there is nothing more to say to it.
func answerLater(t tongue, token entity.AnswerToken, n uint32, tally map[string]int) (over bool) {
	id, part := t.self()
	var err error
	if n%refusedEvery == 0 {
		err = t.answerer().Fail(token, errGossip())
	} else {
		err = t.answerer().Answer(token, n, id.String())
	}
	switch {
	case err == nil:
		tally["later"]++
	case errors.Is(err, entity.ErrAnswered):
		tally["too late"]++
	case errors.Is(err, entity.ErrFull):
		return false
	default:
		t.fault("%v %v answers %d: %v", id, part, n, err)
	}
	return true
}

// hearAnswer takes an answer, of which there must be one to each call.
func hearAnswer(t tongue, r entity.Reply, w *world) {
	id, part := t.self()
	tally := w.answers
	call, open := t.end(uint32(r.User))
	if !open {
		t.fault("%v %v was answered twice: %d of %v", id, part, r.User, r.Target)
		return
	}
	var n uint32
	var by string
	var game *entity.GameError
	switch err := r.Scan(&n, &by); {
	case err == nil && (by != r.Target.String() || n%refusedEvery == 0):
		t.fault("%v %v: %s was answered by %s: %d", id, part, call, by, n)
	case errors.As(err, &game) && *game != *errGossip():
		t.fault("%v %v: %s was answered %v", id, part, call, err)
	case err == nil:
		tally["results"]++
	case game != nil:
		tally["game error"]++
	case errors.Is(err, entity.ErrNoEntity):
		tally["no entity"]++
		if made := madeOf(t, call, r.Target); w.lastCalls[made] && !w.lossy() {
			t.fault("%v %v: the call in which its target has ended was answered %v: %s", id, part, err, made)
		}
	case errors.Is(err, entity.ErrTimeout):
		tally["time-out"]++
	default:
		tally[err.Error()]++
	}
}

// gossipCell is the cell part of a gossip.
type gossipCell struct {
	*space.Real
	Said   property.Map[string, uint32]
	Heard  property.Map[string, uint64]
	Heir   property.Uint32 // the life of the base that made it speak last
	Open   property.Map[uint32, string]
	Owed   property.Map[uint64, uint64] // when the call came, in milliseconds, and its number
	Asked  property.Uint32
	Friend property.Uint64
	Faults property.Slice[string]
	w      *world `cellscape:"local"`
}

func (s *gossipCell) OnCreated() { _, _ = s.AddTimer(beat, beat, "OnBeat", 0) }

// OnBeat walks on.
func (s *gossipCell) OnBeat(entity.Callback) {
	s.answerSome()
	if hushed(s.Real) {
		return
	}
	p := s.Position()
	p.X += float32(s.Chance().IntN(31) - 15)
	p.Z += float32(s.Chance().IntN(31) - 15)
	p.X, p.Z = min(max(p.X, -half+1), half-1), min(max(p.Z, -half+1), half-1)
	_ = s.SetPosition(p)
	if s.w.waif[s.ID()] {
		s.live()
		return
	}
	if s.Chance().IntN(waifBeats) == 0 && !s.w.calm && !s.w.hush {
		s.bear()
	}
	if s.Chance().IntN(3) == 0 && s.Friend.Get() != 0 && !s.w.calm && !s.w.hush {
		s.muse(entity.CellMailbox, "muse")
		s.muse(entity.BaseMailbox, "museBase")
	}
}

// answerSome answers some of the calls that it has kept.
func (s *gossipCell) answerSome() {
	var over []uint64
	for token, call := range s.Owed.All() {
		if !s.w.calm && s.Chance().IntN(4) > 0 {
			continue
		}
		n, late := uint32(call), s.w.answers["too late"]
		if answerLater(s.tongue(), entity.AnswerToken(token), n, s.w.answers) {
			over = append(over, token)
		}
		since := time.Duration(call>>32) * time.Millisecond
		if waited := s.Now() - since; s.w.answers["too late"] > late && waited < gossipWithin-time.Second {
			s.tongue().fault("%v forgot call %d after %v", s.ID(), n, waited)
		}
	}
	for _, token := range over {
		_ = s.Owed.Delete(token)
	}
}

// muse says the next number of what the cell part says by itself.
func (s *gossipCell) muse(kind entity.MailboxKind, method string) {
	to := mused(pairOf(entity.ID(s.Friend.Get()), 0, kind))
	n, _ := s.Said.Get(to)
	if s.Lookup(entity.ID(s.Friend.Get()), "Gossip", kind).Call(method, pairOf(s.ID(), entity.CellPart, kind), s.Order().Incarnation, n+1) == nil {
		_ = s.Said.Set(to, n+1)
	}
}

func mused(pair string) string { return pair + " mused" }

// overhear handles a musing.
func overhear(t tongue, pair string, life, n uint32) {
	id, part := t.self()
	last := t.heard(mused(pair))
	if life < last.life || life == last.life && n != last.n+1 || n > last.n+1 {
		t.fault("%v %v overheard %d of life %d after %d of %d of %s", id, part, n, life, last.n, last.life, pair)
	}
	t.hear(mused(pair), heardCall{life, n})
}

// Muse is called by others.
func (s *gossipCell) Muse(of string, life, n uint32) { overhear(s.tongue(), of, life, n) }

// MuseBase is called by others.
func (b *gossipBase) MuseBase(of string, life, n uint32) { overhear(b.tongue(), of, life, n) }

// Speak calls whom the base names.
func (s *gossipCell) Speak(to entity.ID, kind uint8, asks bool, life, n uint32) {
	if s.w.typeOf(to) == "Gossip" {
		s.Friend.Set(uint64(to))
	}
	s.Heir.Set(life)
	speakAs(s.tongue(), to, entity.MailboxKind(kind), asks, n)
}

// Hear is called by others. Some calls end a waif.
func (s *gossipCell) Hear(of string, life, n uint32) (uint32, string, error) {
	if s.w.waif[s.ID()] && s.Open.Len() == 0 && s.w.lastCall(s.tongue(), of, life, n) {
		defer s.Destroy()
	}
	return listen(s.tongue(), of, life, n)
}

// OnHeard takes an answer.
func (s *gossipCell) OnHeard(r entity.Reply) { hearAnswer(s.tongue(), r, s.w) }

func (s *gossipCell) tongue() tongue { return cellTongue{s} }

// cellTongue has those of the cell part.
type cellTongue struct{ s *gossipCell }

func (t cellTongue) lookup(id entity.ID, kind entity.MailboxKind) entity.Mailbox {
	return t.s.Lookup(id, t.s.w.typeOf(id), kind)
}
func (t cellTongue) self() (entity.ID, entity.Part) { return t.s.ID(), entity.CellPart }
func (t cellTongue) said(pair string) uint32        { n, _ := t.s.Said.Get(pair); return n }
func (t cellTongue) say(pair string, n uint32)      { _ = t.s.Said.Set(pair, n) }
func (t cellTongue) heard(pair string) heardCall    { v, _ := t.s.Heard.Get(pair); return heardOf(v) }
func (t cellTongue) hear(pair string, x heardCall)  { _ = t.s.Heard.Set(pair, x.value()) }
func (t cellTongue) may(last heardCall, life, n uint32) bool {
	if t.s.w.waif[t.s.ID()] {
		t.s.w.answers["to waifs"]++
		return t.s.w.mayReach(last, life, n)
	}
	return mayNote(last.life, last.n, life, n)
}
func (t cellTongue) life() uint32 { return t.s.Heir.Get() }
func (t cellTongue) begin(pair string) uint32 {
	t.s.Asked.Set(t.s.Asked.Get() + 1)
	_ = t.s.Open.Set(t.s.Asked.Get(), pair)
	return t.s.Asked.Get()
}
func (t cellTongue) end(user uint32) (string, bool) {
	pair, open := t.s.Open.Get(user)
	_ = t.s.Open.Delete(user)
	return pair, open
}
func (t cellTongue) answerer() answerer { return t.s }
func (t cellTongue) owe(token entity.AnswerToken, n uint32) {
	_ = t.s.Owed.Set(uint64(token), uint64(t.s.Now()/time.Millisecond)<<32|uint64(n))
}
func (t cellTongue) fault(format string, args ...any) {
	_ = t.s.Faults.Append(fmt.Sprintf(format, args...))
}

// gossipBase is the base part of a gossip.
type gossipBase struct {
	*entity.Base
	Fellow property.Bool // made by another
	// Told has the last number of its own calls, Ordered that of the calls that its cell part makes for it.
	Told, Ordered property.Map[string, uint32]
	Ears          property.Map[string, uint64]
	Waits         property.Map[uint32, string]
	Owes          property.Map[uint64, uint32] // the calls that it is yet to answer
	Begged        property.Uint32
	Amiss         property.Slice[string]
	w             *world `cellscape:"local"`
	nth           uint32 `cellscape:"local"` // of all lives of bases that were restored; 0 for a first one
	beats         int    `cellscape:"local"`
	ending        bool   `cellscape:"local"`
}

// OnRestored begins another life.
func (b *gossipBase) OnRestored() {
	b.w.bases.lives++
	b.nth = b.w.bases.lives
}

// OnCreated makes the cell part.
func (b *gossipBase) OnCreated() {
	b.w.gossips = append(b.w.gossips, b.ID())
	_ = b.CreateCell(theSpace, somewhere(uint64(b.ID())), property.Vector3{}, nil)
	_, _ = b.AddTimer(beat, beat, "OnBeat", 0)
}

// gossipKinds lead from any part of a gossip to another.
func gossipKinds() [5]entity.MailboxKind {
	return [...]entity.MailboxKind{entity.CellMailbox, entity.CellMailbox, entity.BaseMailbox, entity.CellViaBase, entity.BaseViaCell}
}

// OnBeat lets base or cell part call somebody, in the bad time.
func (b *gossipBase) OnBeat(entity.Callback) {
	b.w.crack(b.Base)
	chance := b.w.chance.gossip
	var over []uint64
	for token, n := range b.Owes.All() {
		if (b.w.calm || chance.IntN(4) == 0) && answerLater(b.tongue(), entity.AnswerToken(token), n, b.w.answers) {
			over = append(over, token)
		}
	}
	for _, token := range over {
		_ = b.Owes.Delete(token)
	}
	if b.beats++; b.w.calm || b.w.hush {
		return
	}
	switch chance.IntN(40) {
	case 0:
		if b.Fellow.Get() && b.beats > 10 {
			b.end()
			return
		}
	case 1:
		if !b.Fellow.Get() {
			_ = b.CreateBase(entity.BaseInfo{Type: "Gossip", Init: befriend}, "OnFellow", 0)
		}
	}
	for chance.IntN(8) < 5 {
		to, kind := b.w.acquaintance(chance.IntN)
		if to == b.ID() {
			continue
		}
		if asks := chance.IntN(2) == 0; chance.IntN(2) == 0 {
			speak(b.tongue(), to, kind, asks)
		} else {
			b.order(to, kind, asks)
		}
	}
}

// order lets the cell part call somebody.
func (b *gossipBase) order(to entity.ID, kind entity.MailboxKind, asks bool) {
	pair := pairOf(to, 0, kind)
	n, _ := b.Ordered.Get(pair)
	if b.Cell().Call("speak", to, uint8(kind), asks, b.nth, n+1) == nil {
		_ = b.Ordered.Set(pair, n+1)
	}
}

// end ends the entity.
func (b *gossipBase) end() {
	b.ending = true
	b.Destroy()
}

// OnFellow hears of a new base.
func (b *gossipBase) OnFellow(entity.BaseReply) {}

// HearBase is called by others. Some calls end a base that another has made.
func (b *gossipBase) HearBase(of string, life, n uint32) (uint32, string, error) {
	if b.Fellow.Get() && b.beats > 10 && b.w.lastCall(b.tongue(), of, life, n) {
		defer b.end()
	}
	return listen(b.tongue(), of, life, n)
}

// OnHeard takes an answer.
func (b *gossipBase) OnHeard(r entity.Reply) { hearAnswer(b.tongue(), r, b.w) }

func (b *gossipBase) tongue() tongue { return baseTongue{b} }

// baseTongue has those of the base part.
type baseTongue struct{ b *gossipBase }

func (t baseTongue) lookup(id entity.ID, kind entity.MailboxKind) entity.Mailbox {
	return t.b.Lookup(id, t.b.w.typeOf(id), kind)
}
func (t baseTongue) self() (entity.ID, entity.Part) { return t.b.ID(), entity.BasePart }
func (t baseTongue) life() uint32                   { return t.b.nth }
func (t baseTongue) said(pair string) uint32        { n, _ := t.b.Told.Get(pair); return n }
func (t baseTongue) say(pair string, n uint32)      { _ = t.b.Told.Set(pair, n) }
func (t baseTongue) heard(pair string) heardCall    { v, _ := t.b.Ears.Get(pair); return heardOf(v) }
func (t baseTongue) hear(pair string, x heardCall)  { _ = t.b.Ears.Set(pair, x.value()) }
func (t baseTongue) may(last heardCall, life, n uint32) bool {
	return mayNote(last.life, last.n, life, n)
}
func (t baseTongue) begin(pair string) uint32 {
	t.b.Begged.Set(t.b.Begged.Get() + 1)
	_ = t.b.Waits.Set(t.b.Begged.Get(), pair)
	return t.b.Begged.Get()
}
func (t baseTongue) end(user uint32) (string, bool) {
	pair, open := t.b.Waits.Get(user)
	_ = t.b.Waits.Delete(user)
	return pair, open
}
func (t baseTongue) answerer() answerer                     { return t.b }
func (t baseTongue) owe(token entity.AnswerToken, n uint32) { _ = t.b.Owes.Set(uint64(token), n) }
func (t baseTongue) fault(format string, args ...any) {
	_ = t.b.Amiss.Append(fmt.Sprintf(format, args...))
}

// callsAnswered checks promises 3 and 10 for calls between scripts: each is handled once and in order
// for each pair of ends, unless an end has died for good, and each question is answered once.
//
// A cell part may outlive its base until its CellApp hears of the end, or begin after it, if the order to
// make it was long under way. Callers were told by then that the entity has ended, and were refused some
// calls. Such a cell part may hear a later one, so what it says is not asked.
type callsAnswered struct{ c *Cluster }

func (k *callsAnswered) safe() error {
	var faults []error
	lives := map[entity.ID]bool{}
	k.c.eachGossip(func(_ *Process, _ *gossipCell, b *gossipBase) {
		if b != nil && !b.ending {
			lives[b.ID()] = true
		}
	})
	k.c.eachGossip(func(p *Process, s *gossipCell, b *gossipBase) {
		var list []string
		if s != nil && !lives[s.ID()] && s.Def().HasBase {
			return
		}
		if s != nil {
			for _, f := range s.Faults.All() {
				list = append(list, f)
			}
		} else {
			for _, f := range b.Amiss.All() {
				list = append(list, f)
			}
		}
		for _, f := range list {
			faults = append(faults, fmt.Errorf("promises 3 and 10: on %s: %s", p.Name, f))
		}
	})
	return errors.Join(faults...)
}

func (k *callsAnswered) converged() error {
	faults := []error{k.safe()}
	bases, cells := map[entity.ID]*gossipBase{}, map[entity.ID]*gossipCell{}
	k.c.eachGossip(func(p *Process, s *gossipCell, b *gossipBase) {
		if s != nil {
			cells[s.ID()] = s
			return
		}
		bases[b.ID()] = b
	})
	ends := slices.Concat(k.c.world.gossips, slices.Sorted(maps.Keys(k.c.world.waif)))
	check := func(t tongue, life uint32, open int) {
		id, part := t.self()
		if open > 0 {
			faults = append(faults, fmt.Errorf("promise 10: %v %v waits for %d answers", id, part, open))
		}
		faults = append(faults, k.whispered(t, life)...)
		for _, to := range ends {
			for _, kind := range gossipKinds() {
				var target tongue // a base that was made again after its end has no cell part to hand on
				if b := bases[to]; b != nil && kind.Part() == entity.BasePart && (kind != entity.BaseViaCell || cells[to] != nil) {
					target = b.tongue()
				} else if s := cells[to]; s != nil && kind.Part() == entity.CellPart {
					target = s.tongue()
				} else {
					continue
				}
				said, heard := t.said(mused(pairOf(to, 0, kind))), target.heard(mused(pairOf(id, part, kind))).n
				if said > heard { // a restored one may have mused less than before
					faults = append(faults, fmt.Errorf("promise 3: %v %v mused %d to the %v of %v, which heard %d", id, part, said, kind, to, heard))
				}
				// What was said in a former life may be undone.
				said, last := t.said(pairOf(to, 0, kind)), target.heard(pairOf(id, part, kind))
				if said != last.n && (life == last.life || said > last.n) && !(k.c.world.waif[to] && k.c.world.lossy()) {
					faults = append(faults, fmt.Errorf("promise 3: %v %v said %d to the %v of %v, which heard %d of life %d", id, part, said, kind, to, last.n, last.life))
				}
			}
		}
	}
	for _, id := range ends {
		if b := bases[id]; b != nil {
			check(b.tongue(), b.nth, b.Waits.Len())
		}
		if s := cells[id]; s != nil {
			life := s.Heir.Get()
			if b := bases[id]; b != nil {
				life = b.nth
			}
			check(s.tongue(), life, s.Open.Len())
		}
	}
	return errors.Join(faults...)
}

// whispered checks what a part has said to clients.
func (k *callsAnswered) whispered(t tongue, life uint32) (faults []error) {
	id, part := t.self()
	for _, pl := range k.c.players {
		if pl.rude || !pl.playing() {
			continue
		}
		for _, kind := range whisperKinds() {
			said, last := t.said(pairOf(pl.id(), 0, kind)), pl.ear.whispers[pairOf(id, part, kind)]
			if said != last.n && (life == last.life || said > last.n) {
				faults = append(faults, fmt.Errorf("promise 3: %v %v said %d to the %v of %s, %s, which heard %d of life %d", id, part, said, kind, pl.name, pl.id(), last.n, last.life))
			}
		}
	}
	return faults
}

// noneWaits reports whether all calls of gossips have been answered. Nobody knows that of a cell part
// that is on its way from one cell to another (seed 150419).
func (c *Cluster) noneWaits() bool {
	waits, here := 0, map[entity.ID]bool{}
	c.eachGossip(func(_ *Process, s *gossipCell, b *gossipBase) {
		if s != nil {
			here[s.ID()] = true
			waits += s.Open.Len()
		} else {
			waits += b.Waits.Len()
		}
	})
	for b := range basesOf[*gossipBase](c) {
		if b.HasCell && !here[b.ID] {
			waits++
		}
	}
	return waits == 0
}

// eachGossip calls f with each cell part and each base of the gossips.
func (c *Cluster) eachGossip(f func(p *Process, s *gossipCell, b *gossipBase)) {
	for v, s := range realsOf[*gossipCell](c) {
		f(v.p, s, nil)
	}
	for b, s := range basesOf[*gossipBase](c) {
		f(b.p, nil, s)
	}
}
