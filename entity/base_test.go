package entity

import (
	"errors"
	"log/slog"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/daytime"
	"github.com/cellscape/cellscape/entity/shared"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// fakeHost notes what a base asks of its app.
type fakeHost struct {
	calls   []Mailbox
	created int
	session uint32
	space   SpaceID // the space whose data was changed, and how
	datum   SpaceDatum
}

func (h *fakeHost) CallMethod(r Request) error {
	h.calls = append(h.calls, Mailbox{ID: r.To, Kind: r.Kind})
	return nil
}

func (h *fakeHost) CreateCell(SpaceID, property.Vector3, property.Vector3, func(*property.Values)) error {
	h.created++
	return nil
}
func (h *fakeHost) CreateCellAt(CellInfo, string, int64) error { return nil }
func (h *fakeHost) CreateSpace(_ SpaceInfo, _ string, user int64) error {
	h.created = int(user)
	return nil
}
func (h *fakeHost) Backup(string, int64) error                   { return nil }
func (h *fakeHost) SetAutoBackup(bool)                           {}
func (h *fakeHost) SetAutoArchive(bool)                          {}
func (h *fakeHost) QueryStore(stored.Query, string, int64) error { return nil }

func (h *fakeHost) DestroySpace(id SpaceID) error            { h.created = int(id); return nil }
func (h *fakeHost) App() mercury.Address                     { return mercury.Address{Salt: 9} }
func (h *fakeHost) CreateBase(BaseInfo, string, int64) error { return nil }
func (h *fakeHost) RegisterName(_, _ string, _ int64) error  { return nil }
func (h *fakeHost) UnregisterName(string) bool               { return true }
func (h *fakeHost) LookupName(_, _ string, _ int64) error    { return nil }
func (h *fakeHost) ChangeSpaceData(id SpaceID, d SpaceDatum) error {
	h.created, h.space, h.datum = int(d.Key), id, d
	return nil
}
func (h *fakeHost) NewDataID() (DataID, error) { return 5, nil }
func (h *fakeHost) Shared() shared.Data        { return nil }
func (h *fakeHost) TeleportCell(_ Destination, _ string, user int64) error {
	h.created = int(user)
	return nil
}
func (h *fakeHost) DestroyCell() error                                                 { return ErrNoPart }
func (h *fakeHost) Destroy()                                                           { h.created = -1 }
func (h *fakeHost) AddTimer(_, _ time.Duration, _ string, _ int64) (CallbackID, error) { return 3, nil }
func (h *fakeHost) Cancel(id CallbackID) bool                                          { h.created = int(id); return true }
func (h *fakeHost) Later() (AnswerToken, error)                                        { return 5, nil }
func (h *fakeHost) Answer(t AnswerToken, _ ...any) error                               { h.created = int(t); return nil }
func (h *fakeHost) Fail(AnswerToken, error) error                                      { return ErrAnswered }
func (h *fakeHost) Handling() Call                                                     { return Call{Source: 7, Number: 5} }
func (h *fakeHost) Mailbox(property.Mailbox) Mailbox                                   { return Mailbox{} }
func (h *fakeHost) Lookup(ID, string, MailboxKind) Mailbox                             { return Mailbox{} }
func (h *fakeHost) Download(uint32, string, []byte, string) error                      { return ErrNoPart }
func (h *fakeHost) DownloadProgress(id uint32) (int, int, bool)                        { return int(id), 9, true }
func (h *fakeHost) CancelDownload(id uint32) bool                                      { h.created = int(id); return true }
func (h *fakeHost) ClientSession() uint32                                              { return h.session }
func (h *fakeHost) GiveClientTo(property.Mailbox, string) error                        { return ErrNoPart }
func (h *fakeHost) KickClient(string) error                                            { return ErrNoPart }
func (h *fakeHost) LoginData() []byte                                                  { return nil }
func (h *fakeHost) Write(string, int64) error                                          { return stored.ErrNotKept }
func (h *fakeHost) Row() uint64                                                        { return 7 }
func (h *fakeHost) Stood() (Stood, bool)                                               { return Stood{Space: 1}, true }
func (h *fakeHost) LoadBase(stored.Key, string, int64) error                           { return stored.ErrNotKept }
func (h *fakeHost) DestroyRow() error                                                  { return stored.ErrNotKept }
func (h *fakeHost) ClientAccount() string                                              { return "ann" }

func TestBaseAsksItsHost(t *testing.T) {
	schema, err := property.NewSchema(&property.Definition{
		Name: "Avatar", HasCell: true, HasBase: true, HasClient: true,
		CellMethods:   []*property.Method{{Name: "hurt"}},
		ClientMethods: []*property.Method{{Name: "chat"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	def := schema.Type("Avatar")
	host := new(fakeHost)
	props, log := property.NewValues(def, property.BaseSide, nil), slog.New(slog.DiscardHandler)
	b := NewBase(host, 7, props, log)
	if b.ID() != 7 || b.Def() != def || b.Props() != props || b.Log() != log || b.Account() != "ann" || b.HasClient() {
		t.Errorf("a base of %v %v", b.ID(), b.Def().Name)
	}
	host.session = 1
	if !b.HasClient() {
		t.Error("the client is not seen")
	}
	if err := errors.Join(b.Cell().Call("hurt"), b.Client().Call("chat")); err != nil {
		t.Fatal(err)
	}
	if len(host.calls) != 2 || host.calls[0] != (Mailbox{ID: 7, Kind: CellMailbox}) || host.calls[1] != (Mailbox{ID: 7, Kind: ClientMailbox}) {
		t.Errorf("called %+v", host.calls)
	}
	if id, err := b.AddTimer(0, 0, "Tock", 1); id != 3 || err != nil {
		t.Error("no timer")
	}
	if !b.Cancel(3) {
		t.Error("no timer to cancel")
	}
	if c := b.Call(); c != (Call{Source: 7, Number: 5}) {
		t.Errorf("it handles call %+v", c)
	}
	if host.created != 3 || !errors.Is(b.DestroyCell(), ErrNoPart) {
		t.Error("not passed on")
	}
	if err := b.TeleportCell(Destination{Space: 2}, "OnThere", 5); host.created != 5 || err != nil {
		t.Errorf("TeleportCell: %d, %v", host.created, err)
	}
	if err := b.TeleportCell(Destination{Position: property.Vector3{X: 1e30}}, "OnThere", 6); host.created != 5 || err == nil {
		t.Error("TeleportCell beyond the world")
	}
	if err := b.CreateSpace(SpaceInfo{}, "OnRoom", 4); host.created != 4 || err != nil {
		t.Error("no space")
	}
	if id, err := b.AddSpaceData(9, 12, nil); err != nil || id != 5 || host.created != 12 {
		t.Errorf("space data %d was added: %v", id, err)
	}
	if b.SetSpaceData(9, spacekey.First, nil) == nil || b.RemoveSpaceData(9, spacekey.First+1, 0) == nil || host.created != 12 {
		t.Error("a reserved key was set")
	}
	host.created = 3
	if b.DestroySpace(0) == nil || host.created != 3 {
		t.Error("space 0 is destroyed")
	}
	if err := b.DestroySpace(9); err != nil || host.created != 9 {
		t.Error("the end of a space is not passed on")
	}
	b.Destroy()
	if host.created != -1 {
		t.Error("not destroyed")
	}
}

func TestBaseChangesSpaceData(t *testing.T) {
	host := new(fakeHost)
	b := NewBase(host, 7, nil, nil)
	clock := daytime.Clock{Start: 6 * time.Hour, Speed: 60}
	for name, x := range map[string]struct {
		change func() error
		want   SpaceDatum
	}{
		"set":         {func() error { return b.SetSpaceData(9, 12, []byte("a")) }, SpaceDatum{Key: 12, Value: []byte("a")}},
		"replace":     {func() error { return b.ReplaceSpaceData(9, 12, 5, []byte("b")) }, SpaceDatum{Key: 12, ID: 5, Value: []byte("b")}},
		"remove":      {func() error { return b.RemoveSpaceData(9, 12, 5) }, SpaceDatum{Key: 12, ID: 5, Removed: true}},
		"time of day": {func() error { return b.SetTimeOfDay(9, clock) }, SpaceDatum{Key: spacekey.TimeOfDay, Value: clock.Append(nil)}},
	} {
		if err := x.change(); err != nil || host.space != 9 || !reflect.DeepEqual(host.datum, x.want) {
			t.Errorf("%s: asked for %+v in space %d, %v", name, host.datum, host.space, err)
		}
	}
	host.space = 0
	if b.ReplaceSpaceData(9, spacekey.First, 5, nil) == nil || b.SetTimeOfDay(9, daytime.Clock{Speed: -1}) == nil || host.space != 0 {
		t.Error("a reserved key, or a clock that runs backwards, was set")
	}
}

func TestMailboxOfNobody(t *testing.T) {
	if err := (Mailbox{}).Call("hurt"); !errors.Is(err, ErrNoPart) {
		t.Errorf("got %v", err)
	}
}

func TestBaseChecksWhereACellPartIsMade(t *testing.T) {
	host := new(fakeHost)
	b := NewBase(host, 7, nil, nil)
	far, nan := property.Vector3{X: 2 * property.MaxCoordinate}, property.Vector3{Z: float32(math.NaN())}
	for name, err := range map[string]error{
		"space 0":       b.CreateCell(0, property.Vector3{}, property.Vector3{}, nil),
		"far away":      b.CreateCell(1, far, property.Vector3{}, nil),
		"not a number":  b.CreateCell(1, nan, property.Vector3{}, nil),
		"bad direction": b.CreateCell(1, property.Vector3{}, nan, nil),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if host.created != 0 {
		t.Error("asked the app nevertheless")
	}
	if err := b.CreateCell(1, property.Vector3{X: 1}, property.Vector3{}, nil); err != nil || host.created != 1 {
		t.Errorf("got %v", err)
	}
}
