package client

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// seen is the script of what a player sees of others, self of its own entity.
type seen struct {
	*Replica
	Health property.Int32
	Title  property.String
	log    *[]string `cellscape:"local"`
}

func (s *seen) note(format string, args ...any) {
	if s.log != nil {
		*s.log = append(*s.log, fmt.Sprintf(format, args...))
	}
}

func (s *seen) Chat(text string)               { s.note("%v hears %s", s.ID, text) }
func (s *seen) OnSetHealth(c *property.Change) { s.note("health %v, was %v", s.Health.Get(), c.Old) }

type self struct {
	*Replica
	Gold, Mana property.Int32
	heard      []string `cellscape:"local"`
}

func (s *self) Chat(text string)             { s.heard = append(s.heard, text) }
func (s *self) OnSetGold(c *property.Change) { s.heard = append(s.heard, fmt.Sprint("gold ", c.New)) }

func TestScripts(t *testing.T) {
	r := newRig(t)
	scripts := NewScripts(r.schema)
	RegisterPlayer[self](scripts, "Avatar")
	Register[seen](scripts, "Avatar")
	if err := scripts.Err(); err != nil {
		t.Fatal(err)
	}
	r.c.cfg.Scripts = scripts
	r.play()
	me1 := r.c.Player().Script().(*self)
	if me1.Gold.Get() != 5 || me1.Mana.Get() != 3 || len(me1.heard) != 0 {
		t.Errorf("gold %d, mana %d, heard %q", me1.Gold.Get(), me1.Mana.Get(), me1.heard)
	}
	_ = r.others.Load(health, property.Int(80))
	r.say(r.enter(foe, 2).Append(r.cell(2)))
	f := r.c.Entity(foe).Script().(*seen)
	f.log = &r.events
	if f.Health.Get() != 80 {
		t.Errorf("health %d", f.Health.Get())
	}
	_ = r.others.Load(health, property.Int(70))
	changes := protocol.Changes{ID: foe, Props: appendValue(nil, health, r.others)}
	r.say(changes.Append(changes.Append(r.cell(3)))) // the second changes nothing
	_ = r.own.Load(gold, property.Int(8))
	r.say(appendOwn(nil, protocol.BasePropertyID, gold, r.own))
	args, _ := r.schema.Type("Avatar").ClientMethods[0].AppendArgs(nil, []property.Value{property.StringValue("hi")})
	r.say((&protocol.Call{ID: foe, Args: args}).Append((&protocol.Call{ID: me, Args: args}).Append(r.cell(4))))
	r.wantEvents("enter 1.7 health 80", "health 70, was 80", "1.7.health = 70", "1.1.gold = 8", `1.1.chat(["hi"])`, "1.7 hears hi", `1.7.chat(["hi"])`)
	if got := fmt.Sprint(me1.heard); got != "[gold 8 hi]" {
		t.Errorf("the player's script heard %s", got)
	}
	counts := map[string]uint64{}
	for row := range r.c.PropertyStats().Rows() {
		counts[fmt.Sprint(row.Property.Name, " ", row.Traffic)] = row.Count.Changes
	}
	if fmt.Sprint(counts) != "map[gold received:1 health received:2]" {
		t.Errorf("counted %v", counts)
	}
}

// A part is told once each, with its path, and changes nothing else.
func TestPartsAreTold(t *testing.T) {
	u32 := property.Scalar(property.KindUint32)
	list, err := property.NewArray(u32, 0)
	if err != nil {
		t.Fatal(err)
	}
	avatar := *testSchema(t).Type("Avatar")
	avatar.Properties = append(avatar.Properties[:len(avatar.Properties):len(avatar.Properties)],
		&property.Property{Name: "bag", Type: list, Flags: property.AllClients})
	schema, err := property.NewSchema(&avatar)
	if err != nil {
		t.Fatal(err)
	}
	r := rigOf(t, schema)
	bag := schema.Type("Avatar").Property("bag").Index
	r.c.cfg.Events.PropertyChanged = func(e *Replica, c *property.Change) {
		r.events = append(r.events, fmt.Sprintf("%v %v %d-%d %v to %v: %v", e.ID, c.Path, c.Start, c.End, c.Old, c.New, e.Props.Get(c.Index)))
	}
	r.play()
	cell := property.NewValues(schema.Type("Avatar"), property.CellSide, nil)
	var msg []byte
	cell.SetHolder(holder(func(c *property.Change) { msg = protocol.AppendChange(msg, cell, c) }))
	r.say((&protocol.Enter{ID: foe, Props: appendValue(nil, bag, cell)}).Append(r.cell(2)))
	r.events = nil
	for _, err := range []error{
		cell.Splice(bag, nil, 0, 0, property.Uint(1), property.Uint(2)), cell.SetAt(bag, []int{1}, property.Uint(7)), cell.Splice(bag, nil, 0, 1),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	parts := msg
	r.say((&protocol.Changes{ID: foe, Props: parts}).Append(r.cell(3)))
	r.wantEvents("1.7 [] 0-0 [] to [1 2]: [1 2]", "1.7 [1] 0-0 2 to 7: [1 7]", "1.7 [] 0-1 [1] to []: [7]")
	// A part has no place in an Enter.
	r.say((&protocol.Enter{ID: foe + 1, Alias: 1, Props: parts}).Append(r.cell(4)))
	r.wantMalformed()
}

type holder func(c *property.Change)

func (h holder) PropertyChanged(c *property.Change) { h(c) }

type silent struct{ *Replica }

type nosy struct {
	*Replica
	Mana property.Int32
}

func (nosy) Chat(string)                {}
func (nosy) OnSetGold(*property.Change) {}

func TestScriptFaults(t *testing.T) {
	schema := testSchema(t)
	c := NewScripts(schema)
	RegisterPlayer[int](c, "Avatar")
	RegisterPlayer[struct{ A int }](c, "Avatar")
	RegisterPlayer[self](c, "Nobody")
	RegisterPlayer[self](c, "Engine")
	RegisterPlayer[silent](c, "Avatar")
	Register[nosy](c, "Avatar")
	Register[seen](c, "Avatar")
	Register[seen](c, "Avatar")
	got := fmt.Sprint(c.Err())
	for _, want := range []string{
		"int is not a struct", "does not embed *client.Replica", `no entity type "Nobody"`, "player script for Engine: the definitions give it no client part",
		"no Go method Chat", `"mana"`, `OnSetGold`, "it has the script *client.seen already",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not among\n%s", want, got)
		}
	}
	cfg := Config{Scripts: NewScripts(testSchema(t)), Schema: schema}
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "another schema") {
		t.Errorf("scripts of another schema: %v", err)
	}
}
