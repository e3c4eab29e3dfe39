package space

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
)

// The flows of a real travel with it: in its backups, and when it goes to another cell.

// appendFlows encodes all flows. A backup leaves out what belongs to a place. It also leaves out
// the sending end to the base: when the base has the backup, it has all that was sent before it.
func (r *Real) appendFlows(b []byte, sending bool) []byte {
	b = binary.AppendUvarint(r.appendSaving(b, sending), uint64(r.e.Order.Incarnation))
	b = binary.AppendUvarint(b, uint64(len(r.flows)))
	for i := range r.flows {
		p := &r.flows[i]
		out := sending || !r.own(p) && p.out.Kept() > 0
		at, home := p.at, p.home
		if !sending {
			at = mercury.Address{}
		}
		if !out {
			home = mercury.Address{}
		}
		b = fields.AppendMailbox(b, p.id, p.side, at)
		b = mercury.AppendAddress(b, home)
		b = p.in.Append(b)
		b = r.appendPatience(b, p, sending)
		b = binary.AppendUvarint(b, p.cause)
		b = binary.AppendUvarint(b, uint64(p.turn))
		b = binary.AppendUvarint(b, p.upload)
		b = codec.AppendBool(b, out)
		if out {
			b = binary.AppendUvarint(b, uint64(p.life))
			b = codec.AppendBool(b, p.unseen)
			b = p.out.Append(b)
		}
	}
	return b
}

// patienceUnit is how finely the times of a flow travel.
const patienceUnit = 100 * time.Millisecond

// appendPatience encodes how long a flow has not moved; how long its other end will still be looked
// for, and how long ago it was asked, both from 1 on, or 0 if neither is so. A backup has none of
// them: they begin anew.
func (r *Real) appendPatience(b []byte, p *peer, sending bool) []byte {
	if !sending {
		return append(b, 0, 0)
	}
	units := func(d time.Duration) uint64 { return uint64(max(d, 0) / patienceUnit) }
	left, asked := uint64(0), uint64(0)
	if p.giveUpAt != 0 {
		left = 1 + units(p.giveUpAt-r.cell.now)
	}
	if p.prospect.Asked != 0 {
		asked = 1 + units(r.cell.now-p.prospect.Asked)
	}
	b = binary.AppendUvarint(b, units(r.cell.now-p.used))
	if b = binary.AppendUvarint(b, left<<1|min(asked, 1)); asked > 0 {
		b = binary.AppendUvarint(b, asked)
	}
	return b
}

// readPatience reads what appendPatience wrote. What is longer than any of ours counts as the longest.
func (r *Real) readPatience(rd *codec.Reader, p *peer) {
	ago := func(units uint64) time.Duration {
		return r.cell.now - time.Duration(min(units, uint64(2*r.lease()/patienceUnit)))*patienceUnit
	}
	p.used, p.giveUpAt, p.prospect.Asked = ago(rd.Uvarint()), 0, 0
	left := rd.Uvarint()
	if left&1 > 0 {
		p.prospect.Asked = ago(rd.Uvarint())
	}
	if left >>= 1; left > 0 {
		p.giveUpAt = r.cell.now + time.Duration(min(left, uint64(FlowGiveUp/patienceUnit)))*patienceUnit
	}
}

// readFlows reads what appendFlows wrote. A restored real sends in a new stream.
func (r *Real) readFlows(rd *codec.Reader, restoring bool) {
	r.readSaving(rd, restoring)
	of := fields.ReadUint32(rd)
	if of > r.e.Order.Incarnation {
		rd.Fail(errors.New("the flows are of an incarnation that is yet to come"))
		return
	}
	n := rd.Count(MaxPeers, 8)
	last := peer{}
	for range n {
		id, side, at := fields.ReadMailbox(rd)
		home := mercury.ReadAddress(rd)
		if rd.Err() != nil {
			return
		}
		next := peer{id: id, side: side}
		if last.compare(next.id, next.side) >= 0 {
			rd.Fail(errors.New("a flow came twice or out of order"))
			return
		}
		last = next
		p, err := r.peer(id, side)
		if err != nil {
			rd.Fail(err)
			return
		}
		p.at, p.home = at, r.cell.population.heirOr(home, id)
		p.in.Read(rd)
		r.readPatience(rd, p)
		p.cause, p.turn, p.upload = rd.Uvarint(), fields.ReadUint32(rd), rd.Uvarint()
		if rd.Bool() {
			p.life = fields.ReadUint32(rd)
			p.unseen = rd.Bool()
			p.out.Read(rd)
			if !p.out.BornBy(of) {
				rd.Fail(errors.New("a flow keeps messages of an incarnation that is yet to come"))
				return
			}
		}
		if restoring && rd.Err() == nil {
			r.restoreFlow(p, of)
		}
	}
}

// readHeard goes on with the flows that a former cell part had handled, of which its base was told. (A
// call by which a cell part ended came again to each one that its base made in its place, and ended it.)
func (r *Real) readHeard(body []byte) error {
	var former flow.Gone
	if err := former.Parse(body); err != nil {
		return err
	}
	for i := range former.Heard {
		x := &former.Heard[i]
		p, err := r.peer(x.From, x.FromPart)
		if err != nil {
			return err
		}
		if !r.own(p) {
			p.in, p.cause, p.turn, p.upload = x.Receiver(), x.Cause, x.Turn, x.Upload
		}
	}
	return nil
}

// restoreFlow turns a flow of a former incarnation into that of a new one.
func (r *Real) restoreFlow(p *peer, former uint32) {
	p.at = mercury.Address{}
	p.in.RestoreUnconfirmed()
	if !r.own(p) {
		p.in.Owe() // so the other end hears at once that this is another incarnation
		p.out.Restart(former)
		return
	}
	if p.out.Kept() > 0 {
		p.out.Rewind(0) // a former life of the base may have acknowledged what this one has not handled
		r.untold = &untold{out: p.out}
	}
	p.out = flow.Sender{}
}
