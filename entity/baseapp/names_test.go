package baseapp

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
)

// named is a base that has a name, of which another app has a copy that says so.
func named(t *testing.T, name string) (c *copier, id entity.ID) {
	c = newCopier(t)
	c.pass(2 * time.Second)
	id = c.make()
	if err := c.script(id).RegisterName(name, "OnName", 0); err != nil {
		t.Fatal(err)
	}
	ask := one(t, told[wire.RegisterName](c.rig, baseAppMgr))
	c.say(c.bases, &wire.NameHeld{Request: ask.Request, ID: id, Type: ask.Type, App: self})
	c.pass(2 * time.Second)
	return c, id
}

// A name that was given up is free when no copy says that the base has it: from an older one the base would
// come back with the name.
func TestNameStaysUntilCopied(t *testing.T) {
	c, id := named(t, "auction")
	c.mute[appW] = true
	if !c.script(id).UnregisterName("auction") || c.script(id).UnregisterName("auction") {
		t.Error("given up not once")
	}
	c.pass(time.Second)
	if got := c.freed; len(got) != 0 {
		t.Fatalf("free before there is a copy: %v", got)
	}
	sent := c.take()
	last := sent[len(sent)-1]
	later := heir(t)
	if err := later.a.restore(&heritage{id: id, lives: 1, parts: last.Parts}); err != nil || len(later.a.byID[id].names) != 0 {
		t.Errorf("restored with the names %v: %v", later.a.byID[id].names, err)
	}
	c.mute[appW] = false
	c.pass(5 * time.Second)
	if got := c.freed; len(got) != 1 || got[0] != "auction" {
		t.Errorf("freed %v", got)
	}
}

// Until then the base may take it back, and it is announced as its own.
func TestNameTakenBack(t *testing.T) {
	c, id := named(t, "auction")
	c.mute[appW] = true
	c.script(id).UnregisterName("auction")
	c.pass(time.Second)
	c.take()
	c.a.announceNames()
	if m := one(t, told[wire.Names](c.rig, baseAppMgr)); len(m.Entries) != 1 || m.Entries[0].Name != "auction" {
		t.Errorf("announced %+v", m)
	}
	if err := c.script(id).RegisterName("auction", "OnName", 0); err != nil {
		t.Fatal(err)
	}
	c.mute[appW] = false
	c.pass(5 * time.Second)
	if got := c.freed; len(got) != 0 {
		t.Errorf("freed %v", got)
	}
	// Names that are leaving do not keep the base from others, within a bound.
	for i := range maxOwnNames {
		name := fmt.Sprint("n", i)
		b := c.a.byID[id]
		b.names = append(b.names, ownName{name: name, has: true, leaving: true})
		if len(b.names) == maxOwnNames {
			break
		}
	}
	if err := c.script(id).RegisterName("one more", "OnName", 0); err == nil {
		t.Error("a base has any number of names that are leaving")
	}
}

// What it takes back is not in its copies before it is told so: restored from one, it is told that
// the question was forgotten, and must not have the name beside that.
func TestNameTakenBackUntold(t *testing.T) {
	c, id := named(t, "auction")
	s := c.script(id)
	s.UnregisterName("auction")
	if err := s.RegisterName("auction", "OnName", 0); err != nil {
		t.Fatal(err)
	}
	restored := func() []ownName {
		if err := s.Backup("OnAlarm", 5); err != nil {
			t.Fatal(err)
		}
		c.pass(time.Second)
		sent := c.take()
		later := heir(t)
		if err := later.a.restore(&heritage{id: id, lives: 1, parts: sent[len(sent)-1].Parts}); err != nil {
			t.Fatal(err)
		}
		return later.a.byID[id].names
	}
	if got := restored(); len(got) != 0 {
		t.Errorf("restored with the names %v", got)
	}
	c.a.byID[id].registered("auction", c.a.asked, &wire.NameHeld{ID: id, App: self})
	if got := restored(); len(got) != 1 || !got[0].has {
		t.Errorf("restored with the names %v once it was told", got)
	}
}

// Where nothing protects the base, there is nothing to wait for.
func TestNameOfUnprotected(t *testing.T) {
	c, id := named(t, "auction")
	c.mute[appW] = true
	c.script(id).UnregisterName("auction")
	c.a.byID[id].copied.large = true
	c.pass(200 * time.Millisecond)
	if got := c.freed; len(got) != 1 {
		t.Errorf("freed %v", got)
	}
}

// A base whose name is another one's by now hears it, once, and no copy has the name any more.
func TestNameLost(t *testing.T) {
	c, id := named(t, "auction")
	c.take()
	c.events = nil
	for range 2 {
		c.say(c.bases, &wire.NameLost{Name: "auction", ID: id, Holder: 77, Type: 1, App: appW})
		c.say(c.bases, &wire.NameLost{Name: "bank", ID: id, Holder: 77, Type: 1, App: appW})
	}
	c.pass(time.Second)
	if want := []string{"lost auction to 77"}; !slices.Equal(c.events, want) {
		t.Errorf("the script hears %q, want %q", c.events, want)
	}
	sent := c.take()
	later := heir(t)
	if err := later.a.restore(&heritage{id: id, lives: 1, parts: sent[len(sent)-1].Parts}); err != nil || len(later.a.byID[id].names) != 0 {
		t.Errorf("restored with the names %v: %v", later.a.byID[id].names, err)
	}
	if len(c.freed) != 0 {
		t.Errorf("freed %v, which are another's", c.freed)
	}
}
