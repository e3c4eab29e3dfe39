package space

import (
	"encoding/binary"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
)

// How a real forgets a flow with another entity, and what it says of its own to one that would forget it. See
// flow.Inquiry.

const (
	// PeerLease is how long a settled flow between cells is kept without use before its sender is asked
	// whether anything of it can still come, unless four backup periods are longer: within those the
	// sender's next backup is confirmed as a rule.
	PeerLease = time.Minute

	// askAgain is how long an answer is waited for. The sender may be about to be restored.
	askAgain = 15 * time.Second
)

// lease is how long an idle flow is kept; see PeerLease.
func (r *Real) lease() time.Duration { return max(PeerLease, 4*r.cell.cfg.BackupPeriod) }

// atRest reports whether a flow with another part has nothing to send, to acknowledge or to settle.
func (r *Real) atRest(p *peer) bool {
	return !r.own(p) && p.out.Kept() == 0 && !p.in.Owed() && r.settled(p) == p.in.Last()
}

// idle reports whether nobody would miss a flow: it has been at rest for long, no backup from which this real
// could be restored keeps anything of it, and nothing that the other end has said can come again.
func (r *Real) idle(p *peer) bool {
	return r.atRest(p) && r.cell.now-p.used >= r.lease() && r.keepsNothing(p) && !r.mayComeAgain(p)
}

// keepsNothing reports whether a settled backup was made after a flow was used last.
func (r *Real) keepsNothing(p *peer) bool { return r.e.Base.IsZero() || r.backed.at > p.used }

// mayComeAgain reports whether something that was handled may be said again. An end without a base is not
// restored. If it has ended, nobody answers for it, and a second lease has to do.
func (r *Real) mayComeAgain(p *peer) bool {
	if !p.in.Heard() || p.prospect.Nothing {
		return false
	}
	app, based := r.cell.out.Home(p.id)
	if !based {
		return r.cell.now-p.used < 2*r.lease()
	}
	return !r.cell.out.Dead(app)
}

// askToForget asks the sender of a flow that is at rest, and returns when to look at it again.
func (r *Real) askToForget(p *peer) time.Duration {
	if due := p.used + r.lease(); r.cell.now < due {
		return due
	}
	if r.mayComeAgain(p) && p.prospect.MayAsk(r.cell.now, askAgain) {
		r.inquire(p, r.whoAnswers(p))
	}
	return r.cell.now + askAgain/2
}

// whoAnswers is where the sender of a flow is found: by way of its base, or where it was.
func (r *Real) whoAnswers(p *peer) mercury.Address {
	if app, based := r.cell.out.Home(p.id); based {
		return app
	}
	if rec := r.cell.population.find(p.id); rec != nil && rec.real == nil {
		return rec.ghost.Real
	} else if rec != nil {
		return r.cell.self
	}
	return p.at
}

// inquire asks what may still come of a flow. Without room for the question it is asked later.
func (r *Real) inquire(p *peer, to mercury.Address) {
	c := r.cell
	if to.IsZero() || to != c.self && !c.has(roomLater, to) {
		return
	}
	m := flow.Inquiry{Of: p.id, OfPart: p.side, By: r.e.ID, ByPart: entity.CellPart, Reply: c.self}
	p.prospect.Ask(c.now, &m)
	if to == c.self {
		c.population.HandleInquiry(&m)
		return
	}
	c.out.Send(to, &m)
}

// doubts reports whether a message may be of a flow that was forgotten, and if so asks the app that it comes
// from.
func (r *Real) doubts(p *peer, m *flow.Message) bool {
	if r.own(p) || !p.prospect.Doubts(m, &p.in, r.spent) {
		return false
	}
	r.cell.count.Doubted++
	if p.prospect.MayAsk(r.cell.now, flow.ResendAfter) {
		r.inquire(p, m.Reply)
	}
	return p.prospect.Doubts(m, &p.in, r.spent) // the sender may be here, and have answered
}

// begins is the number above which the flows begin that the real begins now.
func (r *Real) begins() uint64 { return flow.Begins(r.Now(), r.spent) }

// forget notes the numbers of a flow that is forgotten.
func (r *Real) forget(p *peer) { r.spent = max(r.spent, p.in.Spent(), p.out.Last()) }

// HandleInquiry answers for the sender of a flow, or passes the question on to where it is.
func (p *Population) HandleInquiry(m *flow.Inquiry) {
	if p.held || m.OfPart != entity.CellPart {
		return // asked again
	}
	a := flow.Remainder{To: m.By, ToPart: m.ByPart, From: m.Of, FromPart: m.OfPart, Stamp: m.Stamp}
	switch rec := p.find(m.Of); {
	case p.departed.remainder(m, &a):
	case rec == nil:
		p.passOn(p.wentOn(m.Of), m, roomLater) // it is asked again
		return
	case rec.real == nil:
		p.passOn(rec.cell.goesOn(rec.ghost), m, roomLater)
		return
	case rec.real.gone != staying:
		return
	default:
		rec.real.remainder(m, &a)
	}
	if m.Reply == p.env.Self && m.ByPart == entity.CellPart {
		p.HandleRemainder(&a)
		return
	}
	p.env.Out.Send(m.Reply, &a)
}

// remainder says what may still come of a flow of this real.
func (r *Real) remainder(m *flow.Inquiry, a *flow.Remainder) {
	a.Nothing()
	a.Incarnation, a.Low = r.e.Order.Incarnation, r.begins()+1
	if i, found := r.flowOf(m.By, m.ByPart); found {
		p := &r.flows[i]
		a.Low, a.Through = p.out.Low(), p.out.Kept() == 0 && r.keepsNothing(p)
	}
	if !r.e.Base.IsZero() {
		a.Caused, a.Uploaded = r.backed.handled, uint64(flow.MarkOf(r.backed.uploads.session, r.backed.uploads.number))
	}
}

// remainder says the same of what a destroyed real has left.
func (d *departed) remainder(m *flow.Inquiry, a *flow.Remainder) bool {
	list := d.of(m.Of)
	for i := range list {
		if x := &list[i]; x.peer.id == m.By && x.side == m.ByPart && x.out.Kept() > 0 {
			a.Incarnation, a.Low = x.stream, x.out.Low()
			return true
		}
	}
	return false
}

// HandleRemainder takes what the sender of a flow says to a real that would forget it, or has forgotten it.
func (p *Population) HandleRemainder(a *flow.Remainder) {
	rec := p.find(a.To)
	if p.held || rec == nil || rec.real == nil || a.ToPart != entity.CellPart {
		return // it has moved, and asks again
	}
	r := rec.real
	if end := r.known(a.From, a.FromPart); end != nil {
		if end.prospect.Take(a, &end.in, end.cause, end.upload) && a.Gone() && a.FromPart == entity.BasePart {
			r.forsaken(a.From)
			rec.cell.tellRefused()
		}
	}
}

// contents is what of its flows a backup of a real has.
type contents struct {
	at      time.Duration // when it was made
	handled uint64        // number of the last message of the base
	uploads uploads
}

func (x *contents) append(b []byte) []byte {
	b = binary.AppendUvarint(b, x.handled)
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(x.uploads.session)), x.uploads.number)
}

func (x *contents) read(rd *codec.Reader) {
	x.handled = rd.Uvarint()
	x.uploads = uploads{fields.ReadUint32(rd), rd.Uvarint()}
}

// appendAge and readAge carry when a backup was made, not later than it was; 0 is never.
func (x *contents) appendAge(b []byte, now time.Duration) []byte {
	if x.at == 0 {
		return append(b, 0)
	}
	return binary.AppendUvarint(b, uint64(max(now-x.at, 0)/patienceUnit)+1)
}

func (x *contents) readAge(rd *codec.Reader, now, most time.Duration) {
	if age := rd.Uvarint(); age > 0 {
		x.at = now - time.Duration(min(age, uint64(most/patienceUnit)))*patienceUnit
	}
}
