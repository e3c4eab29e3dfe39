package flow_test

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/property"
)

// payload is one kind of flow payload, with a filled body.
type payload struct {
	kind   flow.Payload
	body   interface{ Parse([]byte) error }
	encode func(body any) []byte // with the payload byte
	closed bool                  // no byte may follow
}

func payloads() []payload {
	pos, dir := property.Vector3{X: 1, Y: -2, Z: 3.5}, property.Vector3{X: 0.5, Y: 6, Z: 7}
	order := entity.Order{Incarnation: 2, Hop: 1 << 20}
	call := func(kind flow.Payload) payload {
		return payload{kind, &flow.MethodCall{Method: 513, Args: []byte("args")},
			func(m any) []byte { return m.(*flow.MethodCall).Append(nil, kind) }, false}
	}
	session := func(kind flow.Payload) payload {
		return payload{kind, &flow.Session{Number: 70000, Room: 900, Rate: 8000, Away: true}, func(m any) []byte { return m.(*flow.Session).Append(nil, kind) }, true}
	}
	return []payload{
		call(flow.CallCellPayload), call(flow.CallBasePayload), call(flow.RemoteCallPayload),
		{flow.ServerCallPayload, &flow.ServerCall{Caller: 1 << 50, CallerPart: entity.CellPart, Cause: 300, Turn: 2,
			Request: flow.RequestID{Cause: 300, Life: 3, Number: 4}, Within: 1500 * time.Millisecond, Part: entity.BasePart, Method: 513, Args: []byte("args")},
			func(m any) []byte { return m.(*flow.ServerCall).Append(nil) }, false},
		{flow.AnswerPayload, &flow.Answer{Request: flow.RequestID{Cause: 300, Life: 3, Number: 4}, Results: []byte("results")},
			func(m any) []byte { return m.(*flow.Answer).Append(nil) }, false},
		{flow.GivePayload, &flow.Give{Account: "ann", Origin: 1 << 40, Turn: 3, Data: []byte("data"), Seat: []byte("seat")},
			func(m any) []byte { return m.(*flow.Give).Append(nil) }, false},
		{flow.TakenPayload, &flow.Taken{Account: "ann", Turn: 3, Reason: "no"},
			func(m any) []byte { return m.(*flow.Taken).Append(nil) }, true},
		session(flow.SetClientPayload), session(flow.AuditPayload),
		{flow.ClientCallPayload, &flow.ClientCall{Target: 1 << 50, Session: 3, Number: 1 << 33, Method: 4, Args: []byte("args")},
			func(m any) []byte { return m.(*flow.ClientCall).Append(nil) }, false},
		{flow.SteerPayload, &flow.Steer{Target: 1, By: 2, Passed: true, Session: 3, Sequence: 4, Incarnation: 5, Forced: 6, Position: pos, Direction: dir},
			func(m any) []byte { return m.(*flow.Steer).Append(nil, flow.SteerPayload) }, true},
		{flow.ClientRestPayload, &flow.ClientRest{Session: 1, Sequence: 2, Incarnation: 3, Forced: 4, Seen: []byte{5, 6}, Still: true, Position: pos, Direction: dir},
			func(m any) []byte { return m.(*flow.ClientRest).Append(nil) }, true},
		{flow.TeleportPayload, &flow.Teleport{Request: 7, To: entity.Destination{Space: 3, Position: pos, Direction: dir, Near: 9, Transition: true}, User: -5},
			func(m any) []byte { return m.(*flow.Teleport).Append(nil) }, true},
		{flow.TeleportedPayload, &flow.Teleported{Request: 7, Code: placement.Full, Reason: "full"},
			func(m any) []byte { return m.(*flow.Teleported).Append(nil) }, true},
		{flow.GonePayload, &flow.Gone{Heard: []flow.LastWord{{From: 7, FromPart: entity.CellPart, Stream: 3, Number: 1 << 50}, {From: 7, FromPart: entity.BasePart, Number: 4, Cause: 5, Turn: 6, Upload: 1 << 60}, {From: 1 << 50, FromPart: entity.CellPart, Stream: 300, Number: 5}}, Ending: true},
			func(m any) []byte { return m.(*flow.Gone).Append(nil) }, true},
		{flow.BundlePayload, &flow.Bundle{Session: 1, Bytes: []byte("bundle")},
			func(m any) []byte { return m.(*flow.Bundle).Append(nil) }, false},
		{flow.BackupPayload, &flow.Backup{Order: order, Saves: 3, Handled: 4, Space: 5, Position: pos, Commit: true, Parts: []byte("parts")},
			func(m any) []byte { return m.(*flow.Backup).Append(nil) }, false},
	}
}

func (p payload) fresh() interface{ Parse([]byte) error } {
	return reflect.New(reflect.TypeOf(p.body).Elem()).Interface().(interface{ Parse([]byte) error })
}

func TestPayloadRoundTrip(t *testing.T) {
	for _, p := range payloads() {
		t.Run(fmt.Sprintf("%d %T", p.kind, p.body), func(t *testing.T) {
			kind, body, err := flow.SplitPayload(p.encode(p.body))
			if err != nil || kind != p.kind {
				t.Fatalf("kind %d, want %d: %v", kind, p.kind, err)
			}
			got := p.fresh()
			if err := got.Parse(body); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(p.body, got); d != "" {
				t.Errorf("(-sent +received):\n%s", d)
			}
			for n := range body {
				if err := p.fresh().Parse(body[:n]); err == nil && p.closed {
					t.Errorf("%d of %d bytes parse", n, len(body))
				}
			}
			if err := p.fresh().Parse(append(bytes.Clone(body), 0)); (err != nil) != p.closed {
				t.Errorf("with a byte left over: %v", err)
			}
		})
	}
	if _, _, err := flow.SplitPayload(nil); err == nil {
		t.Error("an empty payload splits")
	}
}

func FuzzPayload(f *testing.F) {
	kinds := map[flow.Payload]payload{}
	for _, p := range payloads() {
		kinds[p.kind] = p
		f.Add(p.encode(p.body))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		kind, body, err := flow.SplitPayload(b)
		var a flow.Answer
		if cause := flow.AnsweredCause(b); cause != 0 && kind != flow.AnswerPayload {
			t.Errorf("payload %d answers a call with cause %d", kind, cause)
		} else if kind == flow.AnswerPayload && a.Parse(body) == nil && cause != a.Request.Cause {
			t.Errorf("an answer to a call with cause %d has %d", a.Request.Cause, cause)
		}
		p, ok := kinds[kind]
		if err != nil || !ok {
			return
		}
		got := p.fresh()
		if got.Parse(body) != nil {
			return
		}
		if again := p.encode(got); !bytes.Equal(again, b) {
			t.Errorf("parsed from %x, encoded as %x", b, again)
		}
	})
}

func TestMessageNames(t *testing.T) {
	good := flow.Message{From: 1, FromPart: entity.BasePart, To: 2, ToPart: entity.CellPart, Incarnation: 1, Low: 1, Number: 1}
	tests := map[string]func(*flow.Message){
		"number 0":     func(m *flow.Message) { m.Number, m.Low = 0, 0 },
		"low > number": func(m *flow.Message) { m.Low = 2 },
		"from nobody":  func(m *flow.Message) { m.From = 0 },
		"to nobody":    func(m *flow.Message) { m.To = 0 },
		"from beyond":  func(m *flow.Message) { m.From = entity.MaxID + 1 },
		"no side":      func(m *flow.Message) { m.FromPart = 0 },
		"unknown side": func(m *flow.Message) { m.ToPart = 9 },
	}
	var got flow.Message
	if err := got.Parse(good.Append(nil)); err != nil {
		t.Fatal(err)
	}
	for name, change := range tests {
		m := good
		change(&m)
		if err := got.Parse(m.Append(nil)); err == nil {
			t.Errorf("%s: parses as %+v", name, got)
		}
	}
}

func TestVectorsMustBeFinite(t *testing.T) {
	for _, v := range []property.Vector3{{X: nan()}, {Y: 2 * property.MaxCoordinate}, {Z: -2 * property.MaxCoordinate}} {
		r := codec.NewReader(fields.AppendVector3(nil, v))
		if fields.ReadVector3(&r); r.Close() == nil {
			t.Errorf("%v is taken", v)
		}
		var e presence.Entity
		if e.MoveTo(1, v, property.Vector3{}) || e.MoveTo(1, property.Vector3{}, v) || e.MoveStamp != 0 {
			t.Errorf("an entity moved to %v", v)
		}
	}
}

func nan() float32 {
	zero := float32(0)
	return zero / zero
}

func TestMoveTo(t *testing.T) {
	var e presence.Entity
	pos := property.Vector3{X: 3, Z: 4}
	if !e.MoveTo(9, pos, property.Vector3{}) || e.MoveStamp != 1 || e.MovedTick != 9 || e.Position != pos {
		t.Errorf("after a move: %+v", e)
	}
	if e.MoveTo(10, pos, property.Vector3{}) || e.MoveStamp != 1 || e.MovedTick != 9 {
		t.Errorf("after none: %+v", e)
	}
	if d := property.Distance(property.Vector3{Y: 100}, pos); d != 5 {
		t.Errorf("distance on the ground %v", d)
	}
}
