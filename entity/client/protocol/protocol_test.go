package protocol_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// kind is one message type of the protocol, with a filled sample. encode frames a message; parse
// reads a body into a new one.
type kind struct {
	id     protocol.ID
	sample any
	encode func(b []byte, m any) []byte
	parse  func(body []byte) (any, error)
	// open says that the last field takes all that is left of the body.
	open bool
}

// framed is a message with methods of its own for both ways.
type framed[T any] interface {
	*T
	Append(b []byte) []byte
	Parse(body []byte) error
}

func of[T any, P framed[T]](id protocol.ID, sample T, open bool) kind {
	return kind{
		id: id, sample: sample, open: open,
		encode: func(b []byte, m any) []byte { v := m.(T); return P(&v).Append(b) },
		parse:  func(body []byte) (any, error) { var v T; err := P(&v).Parse(body); return v, err },
	}
}

var (
	here   = property.Vector3{X: 1, Y: -2, Z: 3.5}
	facing = property.Vector3{X: 0.5, Y: 0.25, Z: -1}
)

// anEntry is a place next to the origin of the Return among the samples.
func anEntry() []byte {
	var e presence.Entity
	e.Put(property.Vector3{X: 200, Y: 3, Z: -300}, facing, 1)
	return protocol.AppendFar(nil, &e, [2]int32{3, -4})
}

// enters is an Enter as it is received, whether it told the place exactly or by an entry.
type enters struct {
	ID                  entity.ID
	Type                uint16
	Alias               uint32
	Position, Direction property.Vector3
	Props, Entry        string
	Origin              [2]int32
}

// anEnter is one of somebody on the way.
func anEnter() enters {
	sent := protocol.Enter{ID: 9, Type: 2, Alias: 300, Entry: anEntry(), Origin: [2]int32{3, -4}, Props: bytes.Repeat([]byte("long"), 100)}
	var got protocol.Enter
	if err := protocol.Messages(sent.Append(nil), func(_ protocol.ID, body []byte) error { return got.Parse(body) }); err != nil {
		panic(err)
	}
	return entersOf(&got)
}

func (e *enters) message() protocol.Enter {
	m := protocol.Enter{ID: e.ID, Type: e.Type, Alias: e.Alias, Position: e.Position, Direction: e.Direction, Origin: e.Origin, Props: []byte(e.Props)}
	if e.Entry != "" {
		m.Entry = []byte(e.Entry)
	}
	return m
}

func entersOf(m *protocol.Enter) enters {
	return enters{m.ID, m.Type, m.Alias, m.Position, m.Direction, string(m.Props), string(m.Entry), m.Origin}
}

// Whoever enters on the way is told on the grid, wherever in the world, in some fifteen bytes less.
func TestEnterOnTheWay(t *testing.T) {
	for _, at := range []property.Vector3{{}, here, {X: -31, Y: -2.5, Z: 33}, {X: 90_000.1, Y: 300, Z: -90_000}} {
		sent := enters{ID: 9, Type: 2, Alias: 300, Position: at, Direction: property.Vector3{X: 1, Y: 0.5}, Props: "props"}
		exact := sent.message()
		rough := exact
		var e presence.Entity
		e.Put(at, sent.Direction, 1)
		rough.Origin = protocol.OriginOf(at)
		rough.Entry = protocol.AppendFar(nil, &e, rough.Origin)
		b := rough.Append(nil)
		if saved := len(exact.Append(nil)) - len(b); saved < 8 {
			t.Errorf("at %v it saves %d bytes", at, saved)
		}
		var got protocol.Enter
		if err := protocol.Messages(b, func(_ protocol.ID, body []byte) error { return got.Parse(body) }); err != nil {
			t.Fatal(err)
		}
		if property.Distance(got.Position, at) > 0.05 || math.Abs(float64(got.Direction.X-1)) > 0.02 || math.Abs(float64(got.Direction.Y-0.5)) > 0.02 {
			t.Errorf("%v is told as %v, %v", at, got.Position, got.Direction)
		}
		sent.Entry, sent.Origin = string(rough.Entry), rough.Origin
		if sent.Position, sent.Direction = got.Position, got.Direction; entersOf(&got) != sent {
			t.Errorf("%+v is told as %+v", sent, got)
		}
	}
	near := protocol.Enter{ID: 9, Entry: protocol.NearOf(&presence.Motion{X: 3}).Append(nil, true)}
	err := protocol.Messages(near.Append(nil), func(_ protocol.ID, body []byte) error { var m protocol.Enter; return m.Parse(body) })
	if !errors.Is(err, protocol.ErrMalformed) {
		t.Errorf("a place next to none is taken: %v", err)
	}
}

func kinds() []kind {
	place := protocol.Place{ID: 9<<32 | 1, Position: here, Direction: facing}
	expected := protocol.Expected{Place: place, Type: 3, Props: []byte("props")}
	seen := protocol.Seen{Bundle: 300, Packet: 200, Earlier: 1 << 31}
	token, digest := protocol.Token{1, 15: 2}, protocol.Digest{3, 15: 4}
	return []kind{
		of(protocol.LoginID, protocol.Login{Version: 1, Digest: digest, User: "ann", Password: "secret"}, false),
		of(protocol.LoginOKID, protocol.LoginOK{Doors: []protocol.Door{{Network: protocol.UDP, Address: mercury.Address{At: netip.MustParseAddrPort("10.0.0.1:9"), Salt: 5}, Name: "a.example"}}, Fallback: []protocol.Door{{Network: "tcp", Address: mercury.Address{At: netip.MustParseAddrPort("10.0.0.2:9"), Salt: 6}, Name: "b.example"}}, Token: token, Ticket: []byte("ticket")}, false),
		of(protocol.RefusedID, protocol.Refused{Code: protocol.NotReady, Reason: "in a minute"}, false),
		of(protocol.WaitingID, protocol.Waiting{Position: 300, Of: 1 << 20}, false),

		of(protocol.AttachID, protocol.Attach{Token: token, Digest: digest, Ready: true}, false),
		of(protocol.CellCallID, protocol.CellCall{Target: 9<<32 | 2, Method: 300, Args: []byte("args")}, false),
		of(protocol.BaseCallID, protocol.BaseCall{Method: 300, Args: []byte("args")}, false),
		of(protocol.MoveID, protocol.Move{Sequence: 1 << 31, Incarnation: 7, Forced: 300, Seen: seen, Position: here, Direction: facing}, false),
		of(protocol.SightID, protocol.Sight{Incarnation: 7, Seen: seen}, false),

		of(protocol.NewTokenID, protocol.NewToken{Token: token}, false),
		of(protocol.AttachedID, protocol.Attached{Token: token, Time: 30 * time.Second}, false),
		of(protocol.ResumeID, protocol.Resume{Token: token, Former: protocol.Token{9, 8, 15: 7}, Digest: digest, Ready: true, Has: protocol.Counts{300, 1 << 40}, Incarnation: 5}, false),
		of(protocol.ResumedID, protocol.Resumed{Token: token, Handled: 300, From: protocol.Counts{200, 1 << 40}}, false),
		of(protocol.HeardID, protocol.Heard{Has: protocol.Counts{300, 1 << 40}}, false),
		of(protocol.SwitchID, protocol.Switch{Doors: []protocol.Door{{Network: protocol.UDP, Address: mercury.Address{At: netip.MustParseAddrPort("10.0.0.1:9"), Salt: 5}, Name: "a.example"}}, Fallback: []protocol.Door{{Network: protocol.UDP, Address: mercury.Address{At: netip.MustParseAddrPort("10.0.0.2:9"), Salt: 6}, Name: "b.example"}}}, false),
		of(protocol.FallbackID, protocol.Fallback{Doors: []protocol.Door{{Network: protocol.UDP, Address: mercury.Address{At: netip.MustParseAddrPort("10.0.0.1:9"), Salt: 5}, Name: "a.example"}}}, false),
		{
			id: protocol.SettledID, sample: uint64(1 << 40),
			encode: func(b []byte, m any) []byte { return protocol.AppendSettled(b, m.(uint64)) },
			parse:  func(body []byte) (any, error) { return protocol.ParseSettled(body) },
		},
		of(protocol.BasePlayerID, protocol.BasePlayer{ID: 9, Type: 2, Props: []byte("props")}, true),
		of(protocol.CellPlayerID, protocol.CellPlayer{Space: 1 << 20, Incarnation: 3, Position: here, Direction: facing, Forced: 300, Control: true, Props: []byte("props")}, true),
		of(protocol.ForcedID, protocol.Forced{Number: 300, Control: true, Vehicle: 9<<32 | 2, Position: here, Direction: facing}, false),
		of(protocol.ControlledID, protocol.Controlled{ID: 1 << 40, Control: true, Incarnation: 3, Number: 300, Position: here, Direction: facing}, false),
		of(protocol.MoveOtherID, protocol.MoveOther{ID: 1 << 40, Sequence: 1 << 31, Incarnation: 7, Forced: 300, Position: here, Direction: facing}, false),
		{
			id: protocol.EnterID, sample: anEnter(), open: true,
			encode: func(b []byte, m any) []byte { e := m.(enters); v := e.message(); return v.Append(b) },
			parse:  func(body []byte) (any, error) { var v protocol.Enter; err := v.Parse(body); return entersOf(&v), err },
		},
		of(protocol.KeepID, protocol.Keep{Alias: 300, Slot: 7, Drop: []byte{1, 200}}, true),
		of(protocol.ReturnID, protocol.Return{Slot: 200, Alias: 300, Entry: anEntry(), Origin: [2]int32{3, -4}, Props: []byte("props")}, true),
		of(protocol.RideID, protocol.Ride{Vehicle: 9<<32 | 2, Place: place}, false),
		of(protocol.TransitID, protocol.Transit{Offset: here, Companions: []entity.ID{5, 9<<32 | 3}}, false),
		of(protocol.ChangesID, protocol.Changes{ID: 9, Props: []byte("props")}, true),
		of(protocol.CallID, protocol.Call{ID: 9, Method: 2, Args: []byte("args")}, true),
		of(protocol.SpaceDataID, protocol.SpaceData{Key: 7, Entry: 1 << 40, Value: bytes.Repeat([]byte{1}, 200)}, false),
		of(protocol.TimeOfDayID, protocol.TimeOfDay{Day: 3 * time.Hour, Speed: 60}, false),
		of(protocol.SpaceDataGoneID, protocol.SpaceDataGone{Key: 7, Entry: 1 << 40}, false),
		of(protocol.AuditID, protocol.Audit{Own: expected, Entities: []protocol.Expected{expected, expected}}, false),
		{
			id: protocol.RestID, sample: place,
			encode: func(b []byte, m any) []byte { v := m.(protocol.Place); return v.AppendRest(b) },
			parse:  func(body []byte) (any, error) { var v protocol.Place; err := v.ParseRest(body); return v, err },
		},
		{
			id: protocol.LeaveID, sample: entity.ID(9<<32 | 3),
			encode: func(b []byte, m any) []byte { return protocol.AppendLeave(b, m.(entity.ID)) },
			parse:  func(body []byte) (any, error) { return protocol.ParseLeave(body) },
		},
		{
			id: protocol.BundleID, sample: uint64(1 << 40),
			encode: func(b []byte, m any) []byte { return protocol.AppendBundle(b, m.(uint64)) },
			parse:  func(body []byte) (any, error) { return protocol.ParseBundle(body) },
		},
	}
}

var sameAddress = cmp.Comparer(func(a, b mercury.Address) bool { return a == b })

// body unframes one message.
func body(t testing.TB, k kind) []byte {
	t.Helper()
	var out []byte
	n := 0
	err := protocol.Messages(k.encode(nil, k.sample), func(id protocol.ID, b []byte) error {
		if id != k.id {
			t.Errorf("%T has id %d, want %d", k.sample, id, k.id)
		}
		out = b
		n++
		return nil
	})
	if err != nil || n != 1 {
		t.Fatalf("%T: %d messages, %v", k.sample, n, err)
	}
	return out
}

func TestRoundTrip(t *testing.T) {
	seen := map[protocol.ID]bool{}
	for _, k := range kinds() {
		t.Run(fmt.Sprintf("%d %T", k.id, k.sample), func(t *testing.T) {
			if seen[k.id] {
				t.Error("the id is used twice")
			}
			seen[k.id] = true
			v := reflect.ValueOf(k.sample)
			for i := 0; v.Kind() == reflect.Struct && i < v.NumField(); i++ {
				if v.Field(i).IsZero() {
					t.Errorf("the sample's %s is zero", v.Type().Field(i).Name)
				}
			}
			got, err := k.parse(body(t, k))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(k.sample, got, sameAddress); d != "" {
				t.Errorf("(-sent +received):\n%s", d)
			}
		})
	}
}

func TestTruncated(t *testing.T) {
	for _, k := range kinds() {
		b := body(t, k)
		for n := range b {
			_, err := k.parse(b[:n])
			if err == nil && !k.open {
				t.Errorf("%T: %d of %d bytes parse", k.sample, n, len(b))
			}
			if err != nil && !errors.Is(err, protocol.ErrMalformed) {
				t.Errorf("%T: %v is not ErrMalformed", k.sample, err)
			}
		}
		if _, err := k.parse(append(bytes.Clone(b), 0)); (err == nil) != k.open {
			t.Errorf("%T with a byte left over: %v", k.sample, err)
		}
	}
}

// A bundle consists of its messages, in order, including the empty ones.
func TestBundle(t *testing.T) {
	var bundle []byte
	var want []protocol.ID
	add := func(b []byte, id protocol.ID) {
		bundle, want = b, append(want, id)
	}
	add(protocol.AppendReset(bundle), protocol.ResetID)
	for _, k := range kinds() {
		add(k.encode(bundle, k.sample), k.id)
	}
	add(protocol.AppendCellGone(bundle), protocol.CellGoneID)
	add(protocol.AppendLeaveSpace(bundle), protocol.LeaveSpaceID)
	add(protocol.AppendArrived(bundle), protocol.ArrivedID)
	add(protocol.AppendAhead(bundle), protocol.AheadID)
	add(protocol.AppendAuditRequest(bundle), protocol.AuditRequestID)
	add(protocol.AppendLogout(bundle), protocol.LogoutID)

	var got []protocol.ID
	collect := func(id protocol.ID, _ []byte) error { got = append(got, id); return nil }
	if err := protocol.Messages(bundle, collect); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-sent +received):\n%s", d)
	}
	stop := errors.New("enough")
	if err := protocol.Messages(bundle, func(protocol.ID, []byte) error { return stop }); err != stop {
		t.Errorf("stopped with %v", err)
	}
	if err := protocol.Messages(bundle[:len(bundle)-1], collect); !errors.Is(err, protocol.ErrMalformed) {
		t.Errorf("a bundle cut short: %v", err)
	}
	if err := protocol.Messages(make([]byte, protocol.MaxBundle+1), collect); !errors.Is(err, protocol.ErrMalformed) {
		t.Errorf("a bundle too long: %v", err)
	}
}

// The length before a body takes as many bytes as it needs; the body is not damaged.
func TestFrameLengths(t *testing.T) {
	for _, n := range []int{0, 1, 127, 128, 129, 16383, 16384, 70000} {
		want := bytes.Repeat([]byte{7, 8, 9}, n)[:n]
		b, mark := protocol.Begin([]byte{byte(protocol.ResetID), 0}, protocol.CallID)
		b = protocol.End(append(b, want...), mark)
		found := false
		err := protocol.Messages(b, func(id protocol.ID, body []byte) error {
			found = found || (id == protocol.CallID && bytes.Equal(body, want))
			return nil
		})
		if err != nil || !found {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func TestLimits(t *testing.T) {
	long := strings.Repeat("x", protocol.MaxName+1)
	args := make([]byte, protocol.MaxArguments+1)
	for name, k := range map[string]kind{
		"user":      of(protocol.LoginID, protocol.Login{User: long}, false),
		"password":  of(protocol.LoginID, protocol.Login{Password: long}, false),
		"cell call": of(protocol.CellCallID, protocol.CellCall{Args: args}, false),
		"base call": of(protocol.BaseCallID, protocol.BaseCall{Args: args}, false),
		"reason":    of(protocol.RefusedID, protocol.Refused{Reason: strings.Repeat("x", protocol.MaxReason+1)}, false),
		"no place":  of(protocol.WaitingID, protocol.Waiting{Of: 5}, false),
		"behind":    of(protocol.WaitingID, protocol.Waiting{Position: 6, Of: 5}, false),
		"value":     of(protocol.SpaceDataID, protocol.SpaceData{Value: make([]byte, protocol.MaxSpaceDataValue+1)}, false),
		"position":  of(protocol.MoveID, protocol.Move{Position: property.Vector3{X: 2 * property.MaxCoordinate}}, false),
		"own":       of(protocol.AuditID, protocol.Audit{Own: protocol.Expected{Props: make([]byte, protocol.MaxExpected+1)}}, false),
	} {
		if _, err := k.parse(body(t, k)); !errors.Is(err, protocol.ErrMalformed) {
			t.Errorf("%s beyond its limit: %v", name, err)
		}
	}
	// Everything that an Enter can bring can be audited.
	whole := of(protocol.AuditID, protocol.Audit{Own: protocol.Expected{Place: protocol.Place{ID: 1}, Props: make([]byte, 2*protocol.MaxValue)}}, false)
	if _, err := whole.parse(body(t, whole)); err != nil {
		t.Errorf("two large properties: %v", err)
	}
	// A number of entities that the bytes cannot hold is refused before the entities are made.
	audit := (&protocol.Audit{}).Append(nil)
	forged := append(bytes.Clone(audit[2:len(audit)-1]), 0xff, 0x7f)
	if err := new(protocol.Audit).Parse(forged); !errors.Is(err, codec.ErrShort) {
		t.Errorf("16383 entities in no bytes: %v", err)
	}
}

// Properties of a hero, by Index; a client knows name as 0 and hp as 1.
const (
	heroPlan = iota
	heroName
	heroPurse
	heroHP
)

// hero is a type with properties of several sizes, of which clients see two.
func hero(t testing.TB) *property.Definition {
	t.Helper()
	text, i32 := property.Scalar(property.KindString), property.Scalar(property.KindInt32)
	s, err := property.NewSchema(&property.Definition{
		Name: "Hero", HasCell: true, HasBase: true, HasClient: true,
		Properties: []*property.Property{
			{Name: "plan", Type: text, Flags: property.CellPrivate},
			{Name: "name", Type: text, Flags: property.AllClients},
			{Name: "purse", Type: i32, Flags: property.Base},
			{Name: "hp", Type: i32, Flags: property.AllClients},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.Types[0]
}

func appendValue(b []byte, i int, v *property.Values) []byte { return v.AppendClientValue(b, i) }

func TestWholeValues(t *testing.T) {
	d := hero(t)
	v := property.NewValues(d, property.CellSide, nil)
	if err := errors.Join(v.Set(heroName, property.StringValue("Ann")), v.Set(heroHP, property.Int(-7))); err != nil {
		t.Fatal(err)
	}
	pairs := appendValue(appendValue(nil, heroHP, v), heroName, v)
	if want := "\x00\xf9\xff\xff\xff" + "\x02\x03Ann"; string(pairs) != want {
		t.Errorf("pairs are %q, want %q", pairs, want)
	}
	var got []string
	err := protocol.Whole(d, pairs, func(i int, v property.Value) error {
		got = append(got, fmt.Sprint(d.Properties[i].Name, "=", v))
		return nil
	})
	if err != nil || len(got) != 2 || !strings.HasPrefix(got[0], "hp=") || !strings.HasPrefix(got[1], "name=") {
		t.Errorf("%q, %v", got, err)
	}
	for n := 1; n < len("\x00\x03Ann"); n++ { // within the second pair
		err := protocol.Whole(d, pairs[:len(pairs)-n], func(int, property.Value) error { return nil })
		if !errors.Is(err, protocol.ErrMalformed) {
			t.Errorf("%d bytes cut off: %v", n, err)
		}
	}
	// The type has four properties, but only two for clients; a part is not a whole value; the last
	// index fits into no int.
	for _, beyond := range []string{"\x04\x00\x00\x00\x00", "\x06\x00\x00\x00\x00", "\x08\x00", "\x03\x00\x00\x00\x00", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x80", "\x80\x00"} {
		if err := protocol.Whole(d, []byte(beyond), nil); !errors.Is(err, protocol.ErrMalformed) {
			t.Errorf("index %x: %v", beyond, err)
		}
	}
	stop := errors.New("enough")
	if err := protocol.Whole(d, pairs, func(int, property.Value) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("stopped with %v", err)
	}

	// A new value of an own property is one pair in a frame.
	b, mark := protocol.Begin(nil, protocol.OwnPropertyID)
	own := protocol.End(protocol.AppendChange(b, v, &property.Change{Index: heroHP}), mark)
	err = protocol.Messages(own, func(id protocol.ID, body []byte) error {
		if id != protocol.OwnPropertyID {
			t.Errorf("id %d", id)
		}
		return protocol.Whole(d, body, func(i int, v property.Value) error {
			if i != heroHP || v.Int() != -7 {
				t.Errorf("property %d is %v", i, v)
			}
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
}

// A property that no client sees cannot be sent to one, whatever bug tries it.
func TestPropertiesOfTheServerArePanics(t *testing.T) {
	s, err := property.NewSchema(&property.Definition{
		Name: "Weather", HasCell: true,
		Properties: []*property.Property{{Name: "rain", Type: property.Scalar(property.KindFloat32), Flags: property.AllClients}},
	})
	if err != nil {
		t.Fatal(err)
	}
	cell := property.NewValues(hero(t), property.CellSide, nil)
	base := property.NewValues(hero(t), property.BaseSide, nil)
	rain := property.NewValues(s.Types[0], property.CellSide, nil)
	for want, f := range map[string]func(){
		"Hero.plan (flags CELL_PRIVATE, client side true)": func() { appendValue(nil, heroPlan, cell) },
		"Hero.purse (flags BASE, client side true)": func() {
			protocol.AppendChange(nil, base, &property.Change{Index: heroPurse})
		},
		"Weather.rain (flags ALL_CLIENTS, client side false)": func() { appendValue(nil, 0, rain) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("panic %q, want %q", got, want)
				}
			}()
			f()
		}()
	}
}

func TestCodes(t *testing.T) {
	seen := map[string]bool{}
	for c := protocol.BadVersion; c <= protocol.LoggedOut; c++ {
		s := c.String()
		if seen[s] || strings.HasPrefix(s, "reason(") || strings.HasSuffix(s, ".") {
			t.Errorf("code %d reads %q", c, s)
		}
		seen[s] = true
	}
	for want, r := range map[string]error{
		"refused: the server is busy, try again":            &protocol.Refused{Code: protocol.ServerBusy},
		"refused: the server is busy, try again: 5 s to go": &protocol.Refused{Code: protocol.ServerBusy, Reason: "5 s to go"},
		"refused: reason(200): of a newer server":           &protocol.Refused{Code: 200, Reason: "of a newer server"},
		"refused: the login is not known or has expired":    &protocol.Refused{Code: protocol.BadToken},
	} {
		if r.Error() != want {
			t.Errorf("%q, want %q", r.Error(), want)
		}
	}
}

// Whatever parses is encoded as the same bytes.
func FuzzBody(f *testing.F) {
	all := kinds()
	for i, k := range all {
		f.Add(uint8(i), body(f, k))
	}
	f.Fuzz(func(t *testing.T, n uint8, b []byte) {
		k := all[int(n)%len(all)]
		m, err := k.parse(b)
		if err != nil || len(b) > protocol.MaxBundle/2 { // above, its frame may be too long
			return
		}
		k.sample = m
		if again := body(t, k); !bytes.Equal(again, b) {
			t.Errorf("%T: parsed from %x, encoded as %x", m, b, again)
		}
	})
}

// Whatever is accepted as a bundle can be framed again as the same bytes.
func FuzzMessages(f *testing.F) {
	var bundle []byte
	for _, k := range kinds() {
		bundle = k.encode(bundle, k.sample)
		f.Add(k.encode(nil, k.sample))
	}
	f.Add(bundle)
	f.Add([]byte{0x80, 1, 0x91, 2, 3, 0xA2, 4, 5, 6, 7, 0xB3, 1, 8, 0xF4, 1, 2, 3})
	f.Fuzz(func(t *testing.T, bundle []byte) {
		var again []byte
		err := protocol.Messages(bundle, func(id protocol.ID, body []byte) error {
			if protocol.IsOwnValue(id) {
				again = append(append(again, byte(id)), body...)
				return nil
			}
			b, mark := protocol.Begin(again, id)
			again = protocol.End(append(b, body...), mark)
			return nil
		})
		if err == nil && !bytes.Equal(again, bundle) {
			t.Errorf("read from %x, framed as %x", bundle, again)
		}
	})
}

func FuzzWhole(f *testing.F) {
	d := hero(f)
	v := property.NewValues(d, property.CellSide, nil)
	f.Add(appendValue(appendValue(nil, heroName, v), heroHP, v))
	f.Add([]byte{2, 0, 0, 0, 0})
	f.Add([]byte{3, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, pairs []byte) {
		var again []byte
		err := protocol.Whole(d, pairs, func(i int, val property.Value) error {
			if err := v.Load(i, val); err != nil {
				t.Fatalf("a value that was read does not fit: %v", err)
			}
			again = appendValue(again, i, v)
			return nil
		})
		if err == nil && !bytes.Equal(again, pairs) {
			t.Errorf("read from %x, written as %x", pairs, again)
		}
	})
}
