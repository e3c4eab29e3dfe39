package baseapp

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// A base is made where the BaseAppMgr says, with the values that its maker gave it.
func TestCreateBaseElsewhere(t *testing.T) {
	r, there := joinedRig(t), joinedRig(t)
	_, v := r.spawn()
	r.events = nil
	err := v.CreateBase(entity.BaseInfo{Type: "Avatar", Init: func(p *property.Values) {
		if err := p.Set(p.Definition().Property("gold").Index, property.Int(77)); err != nil {
			t.Error(err)
		}
	}}, "OnBase", 41)
	if err != nil {
		t.Fatal(err)
	}
	place := one(t, told[wire.PlaceBase](r, baseAppMgr))
	r.say(r.bases, &wire.BasePlaced{Request: place.Request, App: appW})
	ask := one(t, told[wire.CreateBase](r, baseAppMgr))
	if ask.On != appW || ask.Number != 1 {
		t.Errorf("asked for %+v", ask)
	}
	// The manager passes it on; twice, since the asker asked again.
	there.say(there.bases, &wire.MakeBase{Request: 5, Asker: self, NewBase: ask.NewBase})
	first := one(t, told[wire.BaseMade](there, baseAppMgr))
	there.say(there.bases, &wire.MakeBase{Request: 6, Asker: self, NewBase: ask.NewBase})
	again := one(t, told[wire.BaseMade](there, baseAppMgr))
	if first.ID == 0 || first.ID != again.ID || again.Request != 6 || len(there.a.list) != 1 {
		t.Errorf("made %+v and %+v, %d bases", first, again, len(there.a.list))
	}
	if got := there.script(first.ID).Gold.Get(); got != 77 {
		t.Errorf("the base has %d gold, want 77", got)
	}
	r.say(r.bases, &wire.BaseMade{Request: ask.Request, ID: first.ID})
	r.say(r.bases, &wire.BaseMade{Request: ask.Request, ID: first.ID})
	r.wantEvents("base 41 is " + num(first.ID) + " on 10.0.0.7:20000 ")
	r.pass(3 * time.Second)
	if got := told[wire.CreateBase](r, baseAppMgr); len(got) != 0 {
		t.Errorf("asked again after the answer: %+v", got)
	}
	// Long after, the same number is another base: its asker has long been answered.
	there.pass(madeLease + time.Second)
	there.say(there.bases, &wire.MakeBase{Request: 7, Asker: self, NewBase: ask.NewBase})
	if late := one(t, told[wire.BaseMade](there, baseAppMgr)); late.ID == first.ID || len(there.a.made.byAsker) != 1 {
		t.Errorf("made %v, %d are remembered", late.ID, len(there.a.made.byAsker))
	}
}

func num(id entity.ID) string { return strings.TrimSpace(property.Uint(uint64(id)).String()) }

// Until it is answered, a request is asked again, also of the next manager, and always of the same
// BaseApp.
func TestCreateBaseIsRepeated(t *testing.T) {
	r := joinedRig(t)
	_, v := r.spawn()
	r.events = nil
	if err := v.CreateBase(entity.BaseInfo{Type: "Avatar", On: appW}, "OnBase", 42); err != nil {
		t.Fatal(err)
	}
	first := one(t, told[wire.CreateBase](r, baseAppMgr))
	r.a.Closed(r.now, r.bases, mercury.ErrTimeout)
	r.pass(2 * time.Second)
	r.bases = r.open(baseAppMgr)
	r.pass(time.Second)
	again := told[wire.CreateBase](r, baseAppMgr)
	if len(again) == 0 || again[0].Number != first.Number || again[0].On != appW {
		t.Fatalf("asked again %+v", again)
	}
	r.say(r.bases, &wire.BaseMade{Request: again[len(again)-1].Request, Reason: "full"})
	r.wantEvents("base 42 is 0 on invalid AddrPort full")
}

// A BaseApp that dies before it has answered may have made the base, and an heir may have that. Who
// asked cannot know, and hears what says so. (The error was like that of a base which there is
// not.)
func TestCreateBaseOnOneThatIsGone(t *testing.T) {
	r := joinedRig(t)
	var got error
	if err := r.a.haveBaseMade(appW, r.schema.Type("Avatar").ID, nil, func(g *flow.Grant) { got = g.Err }); err != nil {
		t.Fatal(err)
	}
	r.tick()
	ask := one(t, told[wire.CreateBase](r, baseAppMgr))
	r.say(r.bases, &wire.BaseMade{Request: ask.Request, Gone: true})
	if !errors.Is(got, entity.ErrTimeout) {
		t.Errorf("the error is %v", got)
	}
}

func TestMakeBaseRefuses(t *testing.T) {
	r := joinedRig(t)
	for name, n := range map[string]wire.NewBase{
		"no such type": {Number: 1, Type: 99},
		"engine":       {Number: 2, Type: r.schema.Type("Engine").ID},
		"bad values":   {Number: 3, Type: r.schema.Type("Avatar").ID, Props: []byte{1}},
	} {
		r.say(r.bases, &wire.MakeBase{Request: 1, Asker: appW, NewBase: n})
		if m := one(t, told[wire.BaseMade](r, baseAppMgr)); m.ID != 0 || m.Reason == "" {
			t.Errorf("%s: made %v for %q", name, m.ID, m.Reason)
		}
	}
	if len(r.a.byID) != 0 || len(r.a.made.order) != 0 {
		t.Errorf("%d bases, %d remembered", len(r.a.byID), len(r.a.made.order))
	}
}

func TestCreateBaseElsewhereFaults(t *testing.T) {
	r := joinedRig(t)
	_, v := r.spawn()
	if err := v.CreateBase(entity.BaseInfo{Type: "Avatar"}, "OnRoom", 0); !errors.Is(err, entity.ErrNoCallback) {
		t.Error(err)
	}
	if err := v.CreateBase(entity.BaseInfo{Type: "Dragon"}, "OnBase", 0); err == nil || !strings.Contains(err.Error(), "Dragon") {
		t.Error(err)
	}
	for range MaxAsks {
		if err := v.CreateBase(entity.BaseInfo{Type: "Avatar", On: appW}, "OnBase", 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.CreateBase(entity.BaseInfo{Type: "Avatar", On: appW}, "OnBase", 0); !errors.Is(err, entity.ErrTooMany) {
		t.Error(err)
	}
	if err := v.LookupName("auction", "OnName", 0); !errors.Is(err, entity.ErrTooMany) {
		t.Error(err)
	}
	v.Destroy()
	if err := v.CreateBase(entity.BaseInfo{Type: "Avatar", On: appW}, "OnBase", 0); !errors.Is(err, entity.ErrGone) {
		t.Error(err)
	}
}

// A base has its name when the BaseAppMgr says so, and announces it to the next one.
func TestRegisterName(t *testing.T) {
	r := joinedRig(t)
	id, v := r.spawn()
	r.events = nil
	if err := v.RegisterName("auction", "OnName", 43); err != nil {
		t.Fatal(err)
	}
	ask := one(t, told[wire.RegisterName](r, baseAppMgr))
	r.say(r.bases, &wire.NameHeld{Request: ask.Request, ID: id, Type: ask.Type, App: self})
	if ask.Name != "auction" || ask.ID != id {
		t.Errorf("asked for %+v", ask)
	}
	if err := v.RegisterName("guild", "OnName", 44); err != nil {
		t.Fatal(err)
	}
	ask = one(t, told[wire.RegisterName](r, baseAppMgr))
	r.say(r.bases, &wire.NameHeld{Request: ask.Request, ID: 99, Type: 1, App: appW})
	r.wantEvents("name 43 auction is "+num(id)+"'s ", "name 44 guild is 99's entity 0.99 has the name")
	r.a.Closed(r.now, r.bases, mercury.ErrTimeout)
	r.pass(2 * time.Second)
	r.bases = r.open(baseAppMgr)
	if m := one(t, told[wire.Names](r, baseAppMgr)); !m.Last || len(m.Entries) != 1 || m.Entries[0].Name != "auction" || m.Entries[0].ID != id {
		t.Errorf("announced %+v", m)
	}
	v.Destroy()
	if m := one(t, told[wire.NameGone](r, baseAppMgr)); m.Name != "auction" || m.ID != id {
		t.Errorf("freed %+v", m)
	}
}

// A name that was given up before the answer came is given back when it comes.
func TestNameGivenUpMeanwhile(t *testing.T) {
	r := joinedRig(t)
	id, v := r.spawn()
	r.events = nil
	_ = v.RegisterName("auction", "OnName", 45)
	ask := one(t, told[wire.RegisterName](r, baseAppMgr))
	if !v.UnregisterName("auction") || v.UnregisterName("auction") {
		t.Error("given up not once")
	}
	one(t, told[wire.NameGone](r, baseAppMgr))
	r.say(r.bases, &wire.NameHeld{Request: ask.Request, ID: id, App: self})
	if m := one(t, told[wire.NameGone](r, baseAppMgr)); m.ID != id {
		t.Errorf("freed %+v", m)
	}
	r.wantEvents("name 45 auction is " + num(id) + "'s the name was given up meanwhile")
}

// A base that gives a name up and asks again at once has two questions under way, and another base
// may get the name between them: the first answer says nothing of the second.
func TestNameAskedForAgain(t *testing.T) {
	for _, c := range []struct {
		name          string
		first, second bool // whether the base has the name by the answer
		want          string
	}{
		{"another got it", true, false, "entity 0.99 has the name"},
		{"another had it", false, true, ""},
		{"nobody else", true, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := joinedRig(t)
			id, v := r.spawn()
			r.events = nil
			holder := map[bool]entity.ID{true: id, false: 99}
			_ = v.RegisterName("auction", "OnName", 1)
			first := one(t, told[wire.RegisterName](r, baseAppMgr))
			v.UnregisterName("auction")
			_ = v.RegisterName("auction", "OnName", 2)
			second := one(t, told[wire.RegisterName](r, baseAppMgr))
			r.say(r.bases, &wire.NameHeld{Request: first.Request, ID: holder[c.first], App: self})
			r.say(r.bases, &wire.NameHeld{Request: second.Request, ID: holder[c.second], App: self})
			r.wantEvents("name 1 auction is "+num(holder[c.first])+"'s the name was given up meanwhile", "name 2 auction is "+num(holder[c.second])+"'s "+c.want)
			if got := v.UnregisterName("auction"); got != c.second {
				t.Errorf("the base has the name: %v", got)
			}
		})
	}
}

// One that asks twice for what somebody else has, who gives it up between the two, has it.
func TestNameAskedForTwice(t *testing.T) {
	r := joinedRig(t)
	id, v := r.spawn()
	r.events = nil
	var asks []uint64
	for i := range int64(2) {
		_ = v.RegisterName("auction", "OnName", i)
		asks = append(asks, one(t, told[wire.RegisterName](r, baseAppMgr)).Request)
	}
	r.say(r.bases, &wire.NameHeld{Request: asks[0], ID: 99, App: self})
	r.say(r.bases, &wire.NameHeld{Request: asks[1], ID: id, App: self})
	r.wantEvents("name 0 auction is 99's entity 0.99 has the name", "name 1 auction is "+num(id)+"'s ")
	if !v.UnregisterName("auction") {
		t.Error("the base has not the name")
	}
}

func TestLookupName(t *testing.T) {
	r := joinedRig(t)
	_, v := r.spawn()
	r.events = nil
	for i, app := range []entity.ID{0, 99} {
		if err := v.LookupName("auction", "OnName", int64(46+i)); err != nil {
			t.Fatal(err)
		}
		ask := one(t, told[wire.FindName](r, baseAppMgr))
		r.say(r.bases, &wire.NameHeld{Request: ask.Request, ID: app, App: appW})
	}
	r.wantEvents("name 46 auction is 0's nobody has the name", "name 47 auction is 99's ")
	for _, bad := range []string{"", strings.Repeat("x", limits.BaseName+1)} {
		if err := v.LookupName(bad, "OnName", 0); err == nil {
			t.Errorf("a name of %d bytes is taken", len(bad))
		}
	}
	for i := range limits.BaseNames + 1 {
		if err := v.RegisterName(strings.Repeat("x", i+1), "OnName", 0); errors.Is(err, entity.ErrTooMany) != (i == limits.BaseNames) {
			t.Errorf("name %d: %v", i, err)
		}
	}
}
