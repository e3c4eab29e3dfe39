package space

import (
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/migrate"
)

// untold is what the frozen copy of a handoff had sent to its base and its client, as far as it was not
// settled. A backup needs none of this, since it follows all that was sent before it. The
// copy contains what its script did, so a real restored from it must send these messages.
type untold struct {
	out     flow.Sender
	session uint32
	direct  []byte
}

// readUntold reads what the client was not told, from parts that only an offload carries.
func (r *Real) readUntold(rd *codec.Reader) {
	var session flow.Session
	session.Read(rd)
	_, _, _ = rd.U32(), rd.Uvarint(), rd.Uvarint()
	_ = rd.Bool() // a new view begins anew
	if direct := rd.Bytes(migrate.MaxParts); len(direct) > 0 && rd.Err() == nil {
		if r.untold == nil {
			r.untold = new(untold)
		}
		r.untold.session, r.untold.direct = session.Number, append([]byte(nil), direct...)
	}
}

// retell sends what was not told: calls to the base after heard, which it has not handled, its own and
// those that it hands on, answers, and calls to the own client if that is still the same. The new
// witness tells the client the rest.
func (r *Real) retell(heard uint64) {
	u := r.untold
	r.untold = nil
	if u == nil {
		return
	}
	u.out.Each(r.cell.now, func(number uint64, payload []byte) {
		kind, body, err := flow.SplitPayload(payload)
		if err != nil || number <= heard {
			return
		}
		switch kind {
		case flow.BackupPayload, flow.GonePayload: // of the former incarnation
		case flow.BundlePayload:
			var m flow.Bundle
			if m.Parse(body) == nil {
				r.retellClient(m.Session, m.Bytes)
			}
		default:
			_ = r.sendBase(payload)
		}
	})
	r.retellClient(u.session, u.direct)
}

func (r *Real) retellClient(session uint32, bundle []byte) {
	if session != r.session.Number || session == 0 {
		return
	}
	err := protocol.Messages(bundle, func(id protocol.ID, body []byte) error {
		var m protocol.Call
		if id == protocol.CallID && m.Parse(body) == nil && m.ID == r.e.ID {
			r.direct = m.Append(r.direct)
			r.spill()
		}
		return nil
	})
	if err != nil {
		r.Log().Error("what the client was not told is malformed", "error", err)
	}
}
