package baseapp

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// A base is carried to another app as named parts (package migrate), as a real is. What is not carried
// is said where it is lost: the questions to managers (pending), downloads, and everything that belongs
// to a place.

// baseCore is what must be known of a base before anything else of it can be read.
type baseCore struct {
	typ        uint16
	life       uint32
	seal       seal
	account    string
	origin     entity.ID
	turn       uint32
	destroying bool
	gotCell    bool
	teleported uint64
	creations  uint64
	shared     uint64 // what it has heard of that
}

func (x *baseCore) code(c *codec.Coder) {
	c.U16(&x.typ)
	codec.Uint32(c, &x.life)
	c.Array(x.seal[:])
	c.String(&x.account, maxAccount)
	fields.ID(c, &x.origin)
	codec.Uint32(c, &x.turn)
	c.Bool(&x.destroying)
	c.Bool(&x.gotCell)
	c.Uvarint(&x.teleported)
	c.Uvarint(&x.creations)
	c.Uvarint(&x.shared)
}

// maxAccount bounds the name of an account where it travels, as the login does.
const maxAccount = 1 << 10

// appendParts encodes everything of a base that another app needs to go on with it.
func (b *base) appendParts(buf []byte) []byte {
	core := baseCore{typ: b.props.Definition().ID, life: b.life(), seal: b.seal, account: b.account, origin: b.origin, turn: b.turn, destroying: b.destroying, gotCell: b.gotCell, teleported: b.teleported, creations: b.creations, shared: b.sharedHeard}
	part := func(tag migrate.Tag, code func(*codec.Coder)) {
		buf = migrate.AppendPart(buf, tag, func(buf []byte) []byte { return codec.Append(buf, code) })
	}
	part(migrate.BaseCorePart, core.code)
	buf = migrate.AppendPart(buf, migrate.BasePropsPart, func(buf []byte) []byte {
		return b.app.compressor.AppendStream(buf, b.props, property.BaseStream, migrate.MaxParts)
	})
	part(migrate.BaseCellPart, b.link.code)
	if b.timers.Last() > 0 {
		buf = migrate.AppendPart(buf, migrate.BaseTimersPart, func(buf []byte) []byte { return b.timers.Append(buf, b.app.game) })
	}
	if b.requests.Used() {
		buf = migrate.AppendPart(buf, migrate.BaseRequestsPart, func(buf []byte) []byte { return b.requests.Append(buf, b.app.game) })
	}
	if b.formerHeard() || len(b.talks) > 0 || b.spent > 0 {
		part(migrate.BaseFlowsPart, b.codeTalks)
	}
	if len(b.names)+len(b.wishes)+len(b.teleports)+len(b.pending)+len(b.commits) > 0 || b.creation != nil {
		part(migrate.BaseAsksPart, b.codeAsks)
	}
	if b.account != "" || b.sessions > 0 {
		buf = migrate.AppendPart(buf, migrate.BaseClientPart, b.appendClient)
	}
	if b.owed.Len() > 0 {
		buf = migrate.AppendPart(buf, migrate.BaseAnswersPart, func(buf []byte) []byte { return b.owed.Append(buf, b.app.game) })
	}
	if b.keep.typ != nil {
		part(migrate.BaseStorePart, b.codeKeep)
	}
	if b.giving != nil || b.gone != nil {
		part(migrate.BaseGivePart, b.codeGiving)
	}
	if b.copied.manual || b.keep.manual {
		part(migrate.BaseAutoPart, b.codeAuto)
	}
	return buf
}

// readParts fills a base that was made for it. What the script is told is for the caller to say.
func (b *base) readParts(parts []byte) error {
	return migrate.EachBasePart(parts, func(tag migrate.Tag, body []byte) error {
		r := codec.NewReader(body)
		switch tag {
		case migrate.BaseCorePart:
			return nil // readCore
		case migrate.BasePropsPart:
			return b.app.compressor.ReadStream(body, b.props, property.BaseStream, migrate.MaxParts)
		case migrate.BaseCellPart:
			return codec.Parse(body, b.link.code)
		case migrate.BaseTimersPart:
			b.timers.Read(&r, b.app.game)
		case migrate.BaseRequestsPart:
			b.requests.Read(&r, b.app.game, limits.BaseRequests)
		case migrate.BaseFlowsPart:
			b.formerAt = b.app.now
			return codec.Parse(body, b.codeTalks)
		case migrate.BaseAsksPart:
			return codec.Parse(body, b.codeAsks)
		case migrate.BaseClientPart:
			b.readClient(&r)
		case migrate.BaseAnswersPart:
			b.owed.Read(&r, b.app.game)
		case migrate.BaseStorePart:
			return codec.Parse(body, b.codeKeep)
		case migrate.BaseGivePart:
			return codec.Parse(body, b.codeGiving)
		case migrate.BaseAutoPart:
			return codec.Parse(body, b.codeAuto)
		}
		return r.Close()
	})
}

// readBaseCore reads the part that comes first.
func readBaseCore(parts []byte) (core baseCore, err error) {
	found := false
	err = migrate.EachBasePart(parts, func(tag migrate.Tag, body []byte) error {
		if tag != migrate.BaseCorePart {
			return nil
		}
		found = true
		return codec.Parse(body, core.code)
	})
	if err == nil && !found {
		err = errors.New("baseapp: parts of a base without a core")
	}
	return core, err
}

// codeSender and codeReceiver code an end of a flow.
func codeSender(c *codec.Coder, v *flow.Sender) {
	codec.Field(c, v, func(b []byte, v flow.Sender) []byte { return v.Append(b) }, func(r *codec.Reader) (v flow.Sender) { v.Read(r); return v })
}

func codeReceiver(c *codec.Coder, v *flow.Receiver) {
	codec.Field(c, v, func(b []byte, v flow.Receiver) []byte { return v.Append(b) }, func(r *codec.Reader) (v flow.Receiver) { v.Read(r); return v })
}

func (l *cellLink) code(c *codec.Coder) {
	codec.Enum(c, &l.state, linkNone, linkAdopting)
	fields.Order(c, &l.order)
	fields.Address(c, &l.app)
	codeSender(c, &l.out)
	codeReceiver(c, &l.in)
	codeReceiver(c, &l.was)
	codeReceiver(c, &l.first)
	c.Bool(&l.leaving)
	codec.Uint32(c, &l.unknown)
	l.copy.code(c)
}

func (x *cellCopy) code(c *codec.Coder) {
	fields.Order(c, &x.Order)
	c.Uvarint(&x.Saves)
	c.Uvarint((*uint64)(&x.Handled))
	codec.Uint32(c, &x.Space)
	fields.Vector3(c, &x.Position)
	c.Bool(&x.Restored)
	c.Bytes(&x.Parts, migrate.MaxParts)
}

// codeTalks codes the flows with other parts than the own cell part, in their order, and what is
// known of those that were forgotten, and of those of a cell part that was destroyed.
func (b *base) codeTalks(c *codec.Coder) {
	c.Uvarint(&b.spent)
	codec.Field(c, &b.former, func(b []byte, m flow.Gone) []byte { return codec.AppendBytes(b, m.AppendBody(nil)) }, func(r *codec.Reader) (m flow.Gone) {
		if err := m.Parse(r.Bytes(flow.MaxPayload)); err != nil {
			r.Fail(err)
		}
		return m
	})
	reading := len(b.talks) == 0
	codec.List(c, &b.talks, MaxPeers, 12, func(c *codec.Coder, p **talk) {
		if *p == nil {
			*p = &talk{of: b, used: b.app.now, answered: b.app.now}
		}
		(*p).code(c)
	})
	for i := range b.talks {
		if reading && i > 0 && b.talks[i-1].compare(b.talks[i].id, b.talks[i].part) >= 0 {
			c.Fail(errors.New("baseapp: a flow came twice or out of order"))
			b.talks = nil
			return
		}
	}
}

func (t *talk) code(c *codec.Coder) {
	codec.Field(c, t, func(b []byte, t talk) []byte { return fields.AppendMailbox(b, t.id, t.part, t.at) }, func(r *codec.Reader) talk {
		x := *t
		x.id, x.part, x.at = fields.ReadMailbox(r)
		return x
	})
	codeSender(c, &t.out)
	codeReceiver(c, &t.in)
	codec.Uint32(c, &t.life)
	c.Uvarint(&t.cause)
	codec.Uint32(c, &t.turn)
}

// codeAsks codes what the base and its cell part wait for, and the names of the base.
func (b *base) codeAsks(c *codec.Coder) {
	if names := b.copiedNames(); len(names) < len(b.names) { // never while they are read
		defer func(all []ownName) { b.names = all }(b.names)
		b.names = names
	}
	codec.List(c, &b.names, limits.BaseNames, 3, func(c *codec.Coder, n *ownName) {
		c.String(&n.name, limits.BaseName)
		c.Bool(&n.has)
		c.Bool(&n.sole)
	})
	codec.List(c, &b.wishes, maxWishes, 4, func(c *codec.Coder, w *wish) {
		codec.Field(c, &w.id, func(b []byte, id flow.RequestID) []byte { return id.Append(b) }, flow.ReadRequestID)
		c.Bool(&w.granted)
		codec.Field(c, &w.grant, func(b []byte, g flow.Grant) []byte { return codec.AppendBytes(b, g.Append(nil)) }, func(r *codec.Reader) (g flow.Grant) {
			if err := g.Parse(r.Bytes(migrate.MaxParts)); err != nil {
				r.Fail(err)
			}
			return g
		})
	})
	codec.List(c, &b.teleports, MaxTeleports, 3, func(c *codec.Coder, t *teleport) {
		c.Uvarint(&t.request)
		c.String(&t.method, script.MaxName)
		c.Varint(&t.user)
	})
	codec.List(c, &b.pending, maxPending, 5, func(c *codec.Coder, p *pending) { p.code(c) })
	codec.List(c, &b.commits, MaxCommits, 3, func(x *codec.Coder, c *commit) { c.code(x) })
	b.codeCreation(c)
}

// restore brings a base back from its parts, in a new life. Its cell part may live, and is heard
// of; the link makes it again if it is not. It is told its client in any case: after the first word
// of this life nothing more comes of the former one, whose last words the copy may not have.
// (Without it a cell part that was restored, too, kept answers to what the former base had caused
// waiting for ever, and all that came after them; see space.Real.answersAhead.)
func (a *BaseApp) restore(h *heritage) error {
	id, parts := h.id, h.parts
	core, err := readBaseCore(parts)
	if err != nil {
		return err
	}
	d := a.cfg.Schema.ByID(core.typ)
	switch {
	case a.ids == nil || a.dismissed:
		return ErrNotJoined
	case a.byID[id] != nil:
		return fmt.Errorf("baseapp: entity %v is here already", id)
	case d == nil || !d.HasBase || a.cfg.Scripts.bases.Of(d) == nil:
		return fmt.Errorf("%w: type %d", ErrNoScript, core.typ)
	case len(a.byID) >= MaxBases:
		return fmt.Errorf("%w: %d bases", entity.ErrTooMany, MaxBases)
	}
	b := a.blank(id, d, property.NewValues(d, property.BaseSide, nil))
	b.seal, b.destroying, b.gotCell, b.teleported, b.creations, b.sharedHeard = core.seal, core.destroying, core.gotCell, core.teleported, core.creations, core.shared
	if err := b.readParts(parts); err != nil {
		return fmt.Errorf("baseapp: entity %v: %w", id, err)
	}
	if !b.bornBy(core.life) {
		return fmt.Errorf("baseapp: entity %v: a flow keeps messages of a life that is yet to come", id)
	}
	if !b.claim(&core) {
		return fmt.Errorf("baseapp: entity %v: account %q has a proxy here already", id, core.account)
	}
	if err := b.awaitClient(); err != nil {
		b.seat = nil // the tokens are another's
		return fmt.Errorf("baseapp: entity %v: %w", id, err)
	}
	b.reviveGiving()
	b.seek()
	b.requests.EachUnbound(func(id flow.RequestID) { b.fail(id, entity.ErrNoService) })
	b.copied.came = h.came
	b.numberCopies(h.from)
	b.retain(h.parts)
	cellApp := b.link.App()
	if h.former != nil {
		b.takeUp(h.former)
		cellApp = cmp.Or(h.former.link.App(), cellApp)
	}
	b.revive(core.life, h)
	b.reviveKeep()
	if b.account != "" {
		a.accounts[b.account] = b
	}
	a.add(b)
	b.traceRestored(h)
	b.exposeAll() // before the script changes anything
	b.guard("constructor", func() { b.value = b.kind.New(entity.NewBase(b, b.id, b.props, b.log), b.props) })
	callHook(b, "OnRestored", func(s Restorer) { s.OnRestored() })
	b.tellForgotten()
	b.tellStoreForgotten()
	b.failWishes()
	b.setCellClient() // it is away, or there is none
	b.lookFor(cellApp)
	return nil
}

// numberCopies has the copies of a base that may have been here before begin above those that holders
// have from then. No app sends a million copies a second.
func (b *base) numberCopies(from mercury.Address) {
	if self := b.app.net.Self(); b.app.roster.Departures().Any(self) || from == self {
		b.copied.number = uint64(b.app.now / time.Microsecond)
	}
}

// lookFor asks the CellApp that had the real when the copy was made. It announces the real by itself when it
// hears of the death, but that may have been before this app did, and then this app did not heed it.
func (b *base) lookFor(cellApp mercury.Address) {
	if b.link.State() == linkAdopting {
		b.app.send(cellApp, &migrate.Probe{ID: b.id, Order: b.link.Order(), Base: b.app.net.Self(), Hops: 1})
	}
}

// bornBy reports whether the base has said nothing in a later life than that.
func (b *base) bornBy(life uint32) bool {
	return b.link.out.BornBy(life) && !slices.ContainsFunc(b.talks, func(t *talk) bool { return !t.out.BornBy(life) })
}

// revive turns what was read into a later life. Perhaps no other app has the copy that was read: a
// move that came to nothing ends with one that no holder may have. So nothing counts as settled
// that was not before, until a copy of this life is confirmed.
func (b *base) revive(former uint32, h *heritage) {
	a := b.app
	life := former + lifeGap*h.lives
	if h.former != nil {
		life = h.former.life() + 1
	}
	b.link.revive(a.now, former, life, adoptGap*h.lives)
	b.passOverSessions(h.lives)
	b.heardAt = a.now
	b.teleported = max(b.teleported, uint64(flow.MarkOf(b.life(), 0))) // above what the former life may have asked for
	for i := range b.commits {
		b.commits[i].number = 0 // the copy that was read may be nowhere else
	}
	if b.creation != nil {
		b.creation.until = a.now + CreatePatience
	}
	b.names = slices.DeleteFunc(b.names, func(n ownName) bool { return !n.has }) // the script is told that it was not answered
	for _, t := range b.talks {
		t.home = a.homeOf(t.id)
		t.in.RestoreUnconfirmed()
		t.in.Owe()
		t.out.Restart(former)
		a.wake(t)
	}
}

// failWishes answers what the cell part wished for and the former app did not grant.
func (b *base) failWishes() {
	for i := range b.wishes {
		if w := &b.wishes[i]; !w.granted {
			b.granted(w.id, &flow.Grant{Err: errForgotten})
		}
	}
}

// adoptGrace is how long a restored base waits for its cell part to say where it is. All CellApps hear of
// the death when this app does, and their reals then say so at once; what takes longer died, too.
const adoptGrace = 3 * time.Second

// adoptGap is by how many incarnations a restored base passes over those that each former life may have begun
// after its copy was made, and that are forgotten. A period between two copies has room for a few. (One gap
// for all lives was too few: an heir that died before anybody had a copy of it, and the next heir, began the
// same incarnation of one cell part, from different copies.)
const adoptGap = 1 << 10

// revive takes over the link of a former life. unknown is how many incarnations may have begun since then.
func (l *cellLink) revive(now time.Duration, former, life, unknown uint32) {
	l.life = life
	l.unknown += unknown
	l.out.Restart(former)
	l.in.RestoreUnconfirmed()
	l.in.Owe()
	l.app = mercury.Address{}
	if l.state != linkNone {
		l.state, l.at = linkAdopting, now+adoptGrace
	}
}
