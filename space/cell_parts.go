package space

import (
	"encoding/binary"
	"fmt"

	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// definition returns the definition of a type that may be on a cell.
func (c *Cell) definition(typ uint16) (*property.Definition, error) {
	d := c.scripts.Schema().ByID(typ)
	if d == nil || !d.HasCell {
		return nil, fmt.Errorf("space: type %d has no cell part here", typ)
	}
	return d, nil
}

func readCore(parts []byte) (core migrate.Core, err error) {
	found := false
	err = migrate.EachPart(parts, func(tag migrate.Tag, body []byte) error {
		if tag != migrate.CorePart {
			return nil
		}
		found = true
		return core.Parse(body)
	})
	if err == nil && !found {
		err = migrate.ErrNoCore
	}
	return core, err
}

// appendParts encodes everything of a real or, for a backup, everything that does not belong to a
// place.
func (r *Real) appendParts(b []byte, backup bool) []byte {
	core := migrate.Core{MoveStamp: r.e.MoveStamp, Position: r.e.Position, Direction: r.e.Direction, Aspect: r.e.Aspect}
	b = migrate.AppendPart(b, migrate.CorePart, core.Append)
	b = migrate.AppendProps(b, r.e.Props, r.cell.compressor)
	if !backup {
		b = migrate.AppendPart(b, migrate.HistoryPart, r.e.History.Append)
	}
	b = migrate.AppendPart(b, migrate.FlowsPart, func(b []byte) []byte { return r.appendFlows(b, !backup) })
	b = migrate.AppendPart(b, migrate.TimersPart, func(b []byte) []byte { return r.timers.Append(b, r.Now()) })
	b = migrate.AppendPart(b, migrate.ControllersPart, r.appendControllers)
	if !backup {
		b = r.appendPlaced(b)
	}
	b = r.appendCommitsPart(b)
	if r.steered() {
		b = migrate.AppendPart(b, migrate.SteeringPart, r.appendSteering)
	}
	b = r.appendTeleport(r.appendRequests(b))
	if !backup && len(r.charges) > 0 {
		b = migrate.AppendPart(b, migrate.ChargesPart, r.charges.append)
	}
	if r.owed.Len() > 0 {
		b = migrate.AppendPart(b, migrate.AnswersPart, func(b []byte) []byte { return r.owed.Append(b, r.Now()) })
	}
	if backup && r.witness != nil && r.witness.Said() {
		b = migrate.AppendPart(b, migrate.SightPart, r.appendSight)
	}
	if r.e.Ride.Stamp != 0 {
		b = migrate.AppendPart(b, migrate.RidePart, r.appendRide)
	}
	if r.dataHeard+r.sharedHeard > 0 {
		b = migrate.AppendPart(b, migrate.NewsPart, r.appendNews)
	}
	if r.exposed != nil {
		b = migrate.AppendExposed(b, r.exposed)
	}
	return b
}

// packed is what appendParts makes, in memory that is used again for the next real.
func (r *Real) packed(backup bool) []byte {
	p := r.cell.population
	p.parts = r.appendParts(p.parts[:0], backup)
	return p.parts
}

// appendPlaced encodes the parts that only an offload carries, but for the history.
func (r *Real) appendPlaced(b []byte) []byte {
	b = migrate.AppendPart(b, migrate.ClientPart, r.appendClient)
	if r.witness != nil {
		b = migrate.AppendPart(b, migrate.WitnessPart, r.witness.Append)
	}
	b = migrate.AppendPart(b, migrate.HauntsPart, func(b []byte) []byte { return codec.AppendBool(r.haunts.Append(b), r.witnessed) })
	b = migrate.AppendPart(b, migrate.LoadPart, r.appendLoad)
	return migrate.AppendPart(b, migrate.ClockPart, r.appendClock)
}

// readParts fills a real. restoring skips what an offer has and a backup has not, because a new
// incarnation starts a new history, new streams and a new witness.
func (r *Real) readParts(parts []byte, restoring bool) error {
	return migrate.EachPart(parts, func(tag migrate.Tag, body []byte) error {
		rd := codec.NewReader(body)
		switch tag {
		case migrate.CorePart:
			return nil
		case migrate.PropsPart:
			return migrate.ReadProps(body, r.e.Props, r.cell.compressor)
		case migrate.TimersPart:
			r.timers.Read(&rd, r.Now())
		case migrate.ControllersPart:
			r.readControllers(&rd)
		case migrate.RequestsPart:
			r.requests.Read(&rd, r.Now(), limits.Requests)
			r.requests.EachUnbound(func(id flow.RequestID) { r.fail(id, entity.ErrNoService) })
		case migrate.AnswersPart:
			r.owed.Read(&rd, r.Now())
		case migrate.FlowsPart:
			r.readFlows(&rd, restoring)
		case migrate.SteeringPart:
			r.readSteering(&rd)
		case migrate.TeleportPart:
			r.readTeleport(&rd)
		case migrate.ClientPart:
			if restoring {
				r.readUntold(&rd)
				break
			}
			r.readClient(&rd)
		case migrate.CommitsPart:
			r.readCommits(&rd, restoring)
		case migrate.SightPart:
			r.readSight(&rd)
		case migrate.HeardPart:
			return r.readHeard(body)
		case migrate.RidePart:
			r.readRide(&rd)
		case migrate.NewsPart:
			r.readNews(&rd)
		case migrate.ExposedPart:
			return r.readExposed(body)
		default:
			if restoring {
				return nil
			}
			return r.readPlaced(tag, body)
		}
		return rd.Close()
	})
}

// restoredSight is what scripts had said of the view of a client, in the copy of a real: it is for the same
// session alone.
type restoredSight struct {
	session uint32
	witness *witness.Witness // new, but for that; nil without
}

// appendSight encodes what scripts have said of the view of the present client: a restored real has a new
// witness for the same session.
func (r *Real) appendSight(b []byte) []byte {
	return r.witness.AppendSaid(binary.AppendUvarint(b, uint64(r.session.Number)))
}

func (r *Real) readSight(rd *codec.Reader) {
	r.viewed.session, r.viewed.witness = fields.ReadUint32(rd), witness.New(r.cell.cfg.Witness)
	r.viewed.witness.ReadSaid(rd)
}

// takeSight returns the witness that a backup has made for the session that begins, nil for another.
func (r *Real) takeSight() (w *witness.Witness) {
	if r.viewed.session == r.session.Number {
		w = r.viewed.witness
	}
	r.viewed.witness = nil
	return w
}

// readPlaced reads the parts that only an offload carries.
func (r *Real) readPlaced(tag migrate.Tag, body []byte) error {
	rd := codec.NewReader(body)
	switch tag {
	case migrate.HistoryPart:
		return r.readHistory(body)
	case migrate.WitnessPart:
		if !r.HasClient() {
			return fmt.Errorf("a witness without a client")
		}
		w := witness.New(r.cell.cfg.Witness)
		w.Read(&rd)
		if err := rd.Close(); err != nil {
			return err
		}
		r.makeWitness(w)
		return nil
	case migrate.HauntsPart:
		r.haunts.Read(&rd, r.cell.now)
		r.witnessed = rd.Bool()
	case migrate.ChargesPart:
		r.charges.read(&rd)
	case migrate.LoadPart:
		r.readLoad(&rd)
	case migrate.ClockPart:
		r.readClock(&rd)
	}
	return rd.Close()
}

// readHistory takes over the history of the former cell, which trimmed it for its own watchers. If
// the ghost that was here is as far, its history is kept: it says the same, and still has the calls
// and parts that watchers here wait for.
func (r *Real) readHistory(body []byte) error {
	h := property.NewHistory(r.e.Def)
	if err := wholly(h.Read(body)); err != nil {
		return err
	}
	if h.Last() != r.e.History.Last() {
		*r.e.History = *h
	}
	return nil
}

func wholly(rest []byte, err error) error {
	if err == nil && len(rest) > 0 {
		err = codec.ErrTrailing
	}
	return err
}

func (r *Real) appendClient(b []byte) []byte {
	b = r.session.AppendBody(b)
	b = binary.LittleEndian.AppendUint32(b, r.clientSeq)
	b = binary.AppendUvarint(b, r.dataTold)
	b = binary.AppendUvarint(b, r.saves)
	b = codec.AppendBool(b, r.arriving != 0)
	return codec.AppendBytes(b, r.direct)
}

func (r *Real) readClient(rd *codec.Reader) {
	r.session.Read(rd)
	r.clientSeq = rd.U32()
	r.dataTold, r.saves = rd.Uvarint(), rd.Uvarint()
	if rd.Bool() {
		r.arriving = r.cell.now + ArrivedWithin
	}
	r.direct = append([]byte(nil), rd.Bytes(migrate.MaxParts)...)
}

// appendRequests appends the part of the two-way calls, if there were any.
func (r *Real) appendRequests(b []byte) []byte {
	if !r.requests.Used() {
		return b
	}
	return migrate.AppendPart(b, migrate.RequestsPart, func(b []byte) []byte { return r.requests.Append(b, r.Now()) })
}
