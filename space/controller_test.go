package space

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/property"
)

// countdown is a controller that writes each of its steps into the diary of its entity.
type countdown struct {
	name, left byte
	big        int
	do         func(r *Real) bool
}

func (c *countdown) Step(r *Real, _ time.Duration) (done bool) {
	c.left--
	if a, ok := r.Script().(*Avatar); ok {
		a.note("%c%d", c.name, c.left)
	}
	if c.do != nil {
		return c.do(r)
	}
	return c.left == 0
}

func (c *countdown) AppendState(b []byte) []byte {
	if c.big < 0 {
		panic("it does not know")
	}
	return append(append(b, c.name, c.left), make([]byte, c.big)...)
}

func (c *countdown) ReadState(b []byte) error {
	if len(b) == 0 {
		panic("it cannot count")
	}
	if len(b) != 2 {
		return errors.New("countdown: two bytes are wanted")
	}
	c.name, c.left = b[0], b[1]
	return nil
}

// stranger is a controller that nobody registered.
type stranger struct{ countdown }

func (r *rig) control(a *Avatar, c *countdown, method string) entity.CallbackID {
	r.t.Helper()
	id, err := a.AddController(c, method, int64(c.name))
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

func TestControllers(t *testing.T) {
	r := newRig(t, 1)
	a := r.spawn(-5)
	a.Diary.Set("")
	r.control(a, &countdown{name: 'a', left: 3}, "OnArrival")
	b := r.control(a, &countdown{name: 'b', left: 9}, "OnArrival")
	r.control(a, &countdown{name: 'c', left: 2}, "")
	r.tick(1)
	r.diary(a.ID(), "a2;b8;c1;")
	r.tick(2)
	r.diary(a.ID(), "a2;b8;c1;a1;b7;c0;a0;arrival 97;b6;")
	if !a.Cancel(b) || a.Cancel(b) {
		t.Error("Cancel does not say whether there was one")
	}
	a.Diary.Set("")
	if _, err := a.MoveTo(property.Vector3{X: -6}, 1, "OnArrival", 5); err != nil {
		t.Fatal(err)
	}
	r.control(a, &countdown{name: 'd', left: 99}, "")
	r.tick(1)
	if p := a.Position().X; p >= -5 || p <= -6 {
		t.Errorf("it does not walk beside the other controller: %v", p)
	}
	r.diary(a.ID(), "d98;")
}

// A step may do what a script may: end other controllers, add some, end itself by hand, and end the
// entity.
func TestControllersChangeControllers(t *testing.T) {
	r := newRig(t, 1)
	a := r.spawn(-5)
	var b, self entity.CallbackID
	a.Diary.Set("")
	self = r.control(a, &countdown{name: 'a', left: 9, do: func(*Real) bool {
		a.Cancel(b)
		r.control(a, &countdown{name: 'c', left: 9}, "")
		return !a.Cancel(self)
	}}, "OnArrival")
	b = r.control(a, &countdown{name: 'b', left: 9}, "")
	r.tick(1)
	r.diary(a.ID(), "a8;")
	r.tick(1)
	r.diary(a.ID(), "a8;c8;")
	r.control(a, &countdown{name: 'd', left: 9, do: func(r *Real) bool { r.Destroy(); return true }}, "OnArrival")
	r.control(a, &countdown{name: 'e', left: 9}, "")
	r.tick(1)
	if got := a.Diary.Get(); got != "a8;c8;c7;d8;" || r.apps[0].cell.Reals() != 0 {
		t.Errorf("diary %q, %d reals", got, r.apps[0].cell.Reals())
	}
}

func TestControllerFaults(t *testing.T) {
	r := newRig(t, 1)
	a := r.spawn(-5)
	for name, tt := range map[string]struct {
		c      Controller
		method string
		want   string
	}{
		"not registered": {&stranger{}, "", "register it with RegisterController"},
		"no callback":    {&countdown{}, "Nothing", entity.ErrNoCallback.Error()},
		"too big":        {&countdown{big: MaxControllerState}, "", "at most 4096 travel"},
		"panics":         {&countdown{big: -1}, "", "it does not know"},
	} {
		if _, err := a.AddController(tt.c, tt.method, 0); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for range MaxControllers {
		r.control(a, &countdown{}, "")
	}
	if _, err := a.AddController(&countdown{}, "", 0); !errors.Is(err, entity.ErrTooMany) {
		t.Errorf("above MaxControllers: %v", err)
	}
	a.Destroy()
	if _, err := a.AddController(&countdown{}, "", 0); !errors.Is(err, entity.ErrGone) {
		t.Errorf("of a destroyed real: %v", err)
	}
}

func TestControllerRegistrationFaults(t *testing.T) {
	s := NewScripts(testSchema(t))
	RegisterController[countdown](s, "countdown")
	RegisterController[countdown](s, "again")
	RegisterController[stranger](s, "countdown")
	RegisterController[stranger](s, "")
	RegisterController[stranger](s, walkTag)
	want := `space: controller *space.countdown, "again": *space.countdown is registered as "countdown" already; give each type a tag of its own
space: controller *space.stranger, "countdown": *space.countdown is registered as "countdown" already; give each type a tag of its own
space: controller *space.stranger: the tag "" does not have 1 to 64 bytes; choose another
space: controller *space.stranger, "walk": *space.walk is registered as "walk" already; give each type a tag of its own`
	if got := fmt.Sprint(s.Err()); got != want {
		t.Errorf("faults:\n%s\nwant:\n%s", got, want)
	}
}

// A panic in a step costs the entity what a panic of its script does.
func TestPanicOfAController(t *testing.T) {
	r := newRig(t, 1)
	a := r.spawn(-5)
	r.control(a, &countdown{left: 9, do: func(*Real) bool { panic("tripped") }}, "")
	r.tick(1)
	if n := r.apps[0].cell.Reals(); n != 0 || r.apps[0].count.Errors != 1 {
		t.Errorf("%d reals, %d errors", n, r.apps[0].count.Errors)
	}
}

// Controllers go on where they come to, with their callbacks. One whose state has grown too long is
// told, and the others travel.
func TestControllersTravel(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 0)
	r.tick(3)
	a := r.avatar(7)
	r.control(a, &countdown{name: 'a', left: 9}, "OnArrival")
	big := &countdown{name: 'b', left: 99}
	r.control(a, big, "")
	big.big = MaxControllerState
	r.tick(1)
	a.Diary.Set("")
	r.move(7, 50)
	r.tick(2)
	if list := r.real(7).controllers.list; len(list) != 1 || r.apps[0].count.Errors == 0 {
		t.Fatalf("%d controllers, %d errors", len(list), r.apps[0].count.Errors)
	}
	r.tick(9)
	if got := r.avatar(7).Diary.Get(); !strings.HasSuffix(got, "a1;a0;arrival 97;") || !strings.Contains(got, "entered;") {
		t.Errorf("diary %s", got)
	}
}

// No bytes make a controller that nobody can have added, and none end the process.
func TestReadControllers(t *testing.T) {
	entry := func(id uint64, tag string, state ...byte) []byte {
		b := binary.AppendUvarint(nil, id)
		b = codec.AppendString(b, tag)
		b = binary.AppendVarint(codec.AppendString(b, "OnArrival"), 4)
		return codec.AppendBytes(b, state)
	}
	r := newRig(t, 1)
	a := r.spawn(-5)
	r.control(a, &countdown{name: 'a', left: 9}, "")
	a.Cancel(r.control(a, &countdown{name: 'b', left: 9}, "")) // two ids are given out
	for name, tt := range map[string]struct {
		b    []byte
		want string
	}{
		"sound":          {append(entry(1, "countdown", 'x', 7), entry(2, "countdown", 'y', 8)...), "<nil>"},
		"unknown tag":    {entry(1, "stranger", 'x', 7), `no controller is registered as "stranger"`},
		"refused state":  {entry(1, "countdown", 'x', 7, 7), "two bytes are wanted"},
		"panic":          {entry(1, "countdown"), "it cannot count"},
		"a walk nowhere": {entry(1, walkTag, make([]byte, 16)...), "a walk with an impossible target or speed"},
		"a turn nowhere": {entry(1, turnTag, make([]byte, 8)...), "a turn to an impossible yaw"},
		"a gait of one":  {entry(1, walkTag, append((&walk{speed: 1}).AppendState(nil), make([]byte, 13)...)...), "gait: impossible numbers"},
		"the same twice": {append(entry(1, "countdown", 'x', 7), entry(1, "countdown", 'x', 7)...), errController.Error()},
		"not given out":  {entry(3, "countdown", 'x', 7), errController.Error()},
		"too long":       {entry(1, "countdown", make([]byte, MaxControllerState+1)...), codec.ErrLength.Error()},
		"cut off":        {entry(1, "countdown", 'x', 7)[:9], codec.ErrShort.Error()},
	} {
		rd := codec.NewReader(tt.b)
		a.readControllers(&rd)
		if got := fmt.Sprint(rd.Close()); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// The steady tick of controllers allocates nothing.
func TestControllersDoNotAllocate(t *testing.T) {
	r := newRig(t, 1)
	a := r.spawn(-5)
	if _, err := a.MoveTo(property.Vector3{X: -5000}, 0.001, "OnArrival", 0); err != nil {
		t.Fatal(err)
	}
	if _, err := a.AddTimer(time.Hour, 0, "OnTimer", 0); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		a.runControllers(tickPeriod)
		a.timers.Run(a.Now(), a.callBack)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// broken is a script whose constructor panics.
type broken struct{ *Real }

func TestConstructors(t *testing.T) {
	r := newRig(t, 1)
	Register(r.scripts, "Rock", func() *rock { return &rock{} })
	c := r.apps[0].cell
	id, err := c.Spawn("Rock", property.Vector3{}, property.Vector3{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := r.real(id).Script().(*rock); !ok {
		t.Errorf("the script is a %T", r.real(id).Script())
	}
	for _, constructor := range []func() *broken{func() *broken { return nil }, func() *broken { panic("out of rocks") }} {
		r := newRig(t, 1)
		Register(r.scripts, "Rock", constructor)
		c := r.apps[0].cell
		_, _ = c.Spawn("Rock", property.Vector3{}, property.Vector3{}, nil)
		r.tick(1)
		if c.Reals() != 0 || r.apps[0].count.Errors != 1 {
			t.Errorf("%d reals, %d errors", c.Reals(), r.apps[0].count.Errors)
		}
	}
	two := func() *rock { return nil }
	s := NewScripts(testSchema(t))
	Register(s, "Rock", two, two)
	Register[rock](s, "Rock", nil)
	if got, want := fmt.Sprint(s.Err()), "space: script for Rock: give one constructor, or none for new"; got != want+"\n"+want {
		t.Errorf("faults: %s", got)
	}
}
