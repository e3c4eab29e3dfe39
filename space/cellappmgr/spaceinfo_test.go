package cellappmgr

import (
	"reflect"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/internal/wire"
)

func TestSpaceInfo(t *testing.T) {
	o := origin{info: aRoom(), owner: at(20), request: 1 << 40}
	o.info.Keep, o.info.KeepFor, o.info.MinLoad = true, time.Hour, 0.5
	b := appendSpaceInfo(nil, &o)
	if len(b) > wire.MaxSpaceInfo {
		t.Errorf("%d bytes, AddCell has room for %d", len(b), wire.MaxSpaceInfo)
	}
	if got, err := parseSpaceInfo(b); err != nil || !reflect.DeepEqual(got, o) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := parseSpaceInfo(nil); err != nil || !reflect.DeepEqual(got, origin{}) {
		t.Errorf("of a space of the Config: %+v, %v", got, err)
	}
	for n := 1; n < len(b); n++ {
		if _, err := parseSpaceInfo(b[:n]); err == nil {
			t.Errorf("%d of %d bytes parse", n, len(b))
		}
	}
	b[0]++
	if _, err := parseSpaceInfo(b); err == nil {
		t.Error("another format parses")
	}
}

func inFirstFormat(o *origin) []byte {
	return codec.Append([]byte{firstFormat}, func(c *codec.Coder) {
		fields.FirstSpaceInfo(c, &o.info)
		fields.Address(c, &o.owner)
		c.Uvarint(&o.request)
	})
}

// Stores have spaces that were kept before there was KeepFor.
func TestFirstSpaceInfo(t *testing.T) {
	o := origin{info: aRoom(), owner: at(20), request: 7}
	o.info.Keep, o.info.MaxEntities = true, 9
	if got, err := parseSpaceInfo(inFirstFormat(&o)); err != nil || !reflect.DeepEqual(got, o) {
		t.Errorf("%+v, %v", got, err)
	}
}

// A manager that starts anew takes a space over from what its CellApps were told, and knows the
// request that it came from.
func TestRestoreSpace(t *testing.T) {
	r, a, base := roomRig(t, func(c *Config) { c.Term, c.RecoveryWindow = 2, -1 })
	info := appendSpaceInfo(nil, &origin{info: aRoom(), owner: base.addr, request: 9})
	const id = 1<<24 | 5 // of the term before
	s, err := r.m.restoreSpace(id, info)
	if err != nil || s.cfg.ID != id || s.cfg.MaxCells != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	if again, err := r.m.restoreSpace(id, info); again != s || err != nil {
		t.Errorf("from a second CellApp: %v", err)
	}
	if own, err := r.m.restoreSpace(1, nil); err != nil || own != r.m.spaces[0] {
		t.Errorf("the space of the Config: %v", err)
	}
	if got := base.ask(9, aRoom()); got.Space != id {
		t.Errorf("asked again after the restart: %+v", got)
	}
	if got := one[wire.AddCell](a); got.Space != id || string(got.Info) != string(info) {
		t.Errorf("ordered %+v", got)
	}
	bad := origin{owner: base.addr}
	for name, tt := range map[string]struct {
		id   entity.SpaceID
		info []byte
	}{"not configured": {8, nil}, "no info": {1<<24 | 6, nil}, "garbage": {1<<24 | 6, []byte{9}}, "bad values": {1<<24 | 6, appendSpaceInfo(nil, &bad)}} {
		if _, err := r.m.restoreSpace(tt.id, tt.info); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzParseSpaceInfo(f *testing.F) {
	f.Add([]byte{})
	f.Add(appendSpaceInfo(nil, &origin{info: aRoom(), owner: at(20), request: 1 << 40}))
	f.Add(inFirstFormat(&origin{info: aRoom(), owner: at(20), request: 1 << 40}))
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := parseSpaceInfo(b)
		if err != nil || len(b) == 0 {
			return
		}
		again := appendSpaceInfo(nil, &o)
		if b[0] == firstFormat {
			again = inFirstFormat(&o) // nobody else writes it
		}
		if string(again) != string(b) {
			t.Errorf("%x parses, but is encoded as %x", b, again)
		}
	})
}
