package sample_test

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/property/defgen/internal/sample"
)

// Avatar is a script as a game writes it, but for the real that it would embed too.
type Avatar struct {
	sample.AvatarCell
	heard []string `cellscape:"local"`
}

var _ sample.AvatarCellMethods = (*Avatar)(nil)

func (a *Avatar) note(format string, args ...any) {
	a.heard = append(a.heard, fmt.Sprintf(format, args...))
}

func (a *Avatar) Say(caller entity.ID, text string) { a.note("%v says %s", caller, text) }

func (a *Avatar) Equip(caller entity.ID, weapon property.Value, spares []property.Value) {
	w := sample.WeaponDataOf(weapon)
	a.note("%v equips %s %d %v and %d spares", caller, w.Name, w.Damage, *w.Gem, len(spares))
	if err := a.Weapon.SetValue(weapon); err != nil {
		a.note("%v", err)
	}
}

func (a *Avatar) Wave(caller entity.ID) { a.note("%v waves", caller) }

func (a *Avatar) Pay(coins uint32, to entity.ID) { a.note("pay %d to %v", coins, to) }

func (a *Avatar) Keep(kind int8, caller property.Mailbox, m []byte, lists [][]int8) {
	a.note("keep %d %d %s %v", kind, caller.Entity, m, lists)
}

// Player is the script of the base part.
type Player struct {
	sample.AvatarBase
	heard []string `cellscape:"local"`
}

var _ sample.AvatarBaseMethods = (*Player)(nil)

func (p *Player) Collect(gem property.Value, gender uint8) {
	p.heard = append(p.heard, fmt.Sprintf("collect, no gem %v, %d", gem.IsNone(), gender))
}

func (p *Player) Appraise(property.Value) (property.Value, []int16, error) {
	return property.Value{}, nil, nil
}

func (p *Player) Balance(of string) (uint32, error) {
	p.heard = append(p.heard, "balance of "+of)
	return 7, nil
}

func load(t testing.TB) *property.Schema {
	t.Helper()
	schema, err := property.Load(os.DirFS("defs"))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// wire is the app behind a mailbox: it hands a call straight to the script.
type wire struct {
	methods *script.Methods
	script  any
	source  entity.ID
}

func (w wire) CallMethod(q entity.Request) error {
	method, args := q.Method, q.Args
	_, err := w.methods.Call(new(script.Parameters), reflect.ValueOf(w.script), method, w.source, args)
	return err
}

// bind does for a script what a CellApp or BaseApp does.
func bind(t *testing.T, made any, d *property.Definition, side property.Side, methods []*property.Method) wire {
	t.Helper()
	if err := property.CheckFields(reflect.TypeOf(made), d, side); err != nil {
		t.Fatal(err)
	}
	property.BindFields(made, property.NewValues(d, side, nil))
	m, err := script.BindMethods(reflect.TypeOf(made), methods, side == property.CellSide)
	if err != nil {
		t.Fatal(err)
	}
	return wire{methods: m, script: made, source: 7}
}

func TestCallsOfTheCellReachTheScript(t *testing.T) {
	d := load(t).Type("Avatar")
	avatar := new(Avatar)
	via := bind(t, avatar, d, property.CellSide, d.CellMethods)
	cell := sample.NewAvatarCellMailbox(entity.Mailbox{ID: 1, Kind: entity.CellMailbox, Def: d, Via: via})

	sword := sample.WeaponData{Name: "sword", Damage: 12, Gem: &sample.GemData{Colour: 2, Value: 70000}, Runes: []int16{-1, 4}}
	for _, err := range []error{
		cell.Say("hello"),
		cell.Equip(sword, []sample.WeaponData{sword, {Name: "stick"}}),
		cell.Wave(),
		cell.Pay(5, 9),
		cell.Keep(-3, property.Mailbox{Entity: 8}, []byte("blob"), [][]int8{{1}, {}, {-2, 3}}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	want := []string{
		"0.7 says hello", "0.7 equips sword 12 {2 70000} and 2 spares", "0.7 waves", "pay 5 to 0.9", "keep -3 8 blob [[1] [] [-2 3]]",
	}
	if diff := cmp.Diff(want, avatar.heard); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
	if avatar.Weapon.Damage.Get() != 12 || avatar.Weapon.Gem.Value.Get() != 70000 || avatar.Weapon.Runes.At(1) != 4 {
		t.Errorf("weapon is %v", avatar.Weapon.Value())
	}
	if diff := cmp.Diff(sword, sample.WeaponDataOf(avatar.Weapon.Value())); diff != "" {
		t.Errorf("weapon, there and back (-want +got):\n%s", diff)
	}
}

func TestCallsOfTheBaseReachTheScript(t *testing.T) {
	d := load(t).Type("Avatar")
	player := new(Player)
	via := bind(t, player, d, property.BaseSide, d.BaseMethods)
	base := sample.NewAvatarBaseMailbox(entity.Mailbox{ID: 1, Kind: entity.BaseMailbox, Def: d, Via: via})
	if err := errors.Join(base.Collect(nil, 3), base.Balance("Ada")); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"collect, no gem true, 3", "balance of Ada"}, player.heard); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
}

// answers is what a script embeds to answer later.
type answers struct{ said []any }

func (a *answers) Later() (entity.AnswerToken, error) { return 5, nil }

func (a *answers) Answer(token entity.AnswerToken, results ...any) error {
	a.said = append(append(a.said, token), results...)
	return nil
}

func (a *answers) Fail(token entity.AnswerToken, err error) error {
	a.said = append(a.said, token, err)
	return nil
}

// A call that Later has kept is answered with Go values, as a call takes them.
func TestAnswersLater(t *testing.T) {
	said := new(answers)
	by := sample.AvatarBaseAnswers{Answerer: said}
	token, err := by.Later()
	sword := sample.WeaponData{Name: "sword", Damage: 12, Runes: []int16{-1, 4}}
	if err := errors.Join(err, by.AnswerAppraise(token, sword, []int16{7}), by.AnswerBalance(6, 70), by.Fail(7, nil)); err != nil {
		t.Error(err)
	}
	if len(said.said) != 7 {
		t.Fatalf("said %v", said.said)
	}
	said.said[1] = sample.WeaponDataOf(said.said[1].(property.Value))
	want := []any{entity.AnswerToken(5), sword, property.List(property.Int(7)), entity.AnswerToken(6), uint32(70), entity.AnswerToken(7), nil}
	if diff := cmp.Diff(want, said.said, cmp.Comparer(property.Equal)); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
}

// What no type of Go can say is still an error of the call.
func TestACallThatDoesNotFitIsRefused(t *testing.T) {
	d := load(t).Type("Avatar")
	avatar := new(Avatar)
	via := bind(t, avatar, d, property.CellSide, d.CellMethods)
	cell := sample.NewAvatarCellMailbox(entity.Mailbox{ID: 1, Kind: entity.CellMailbox, Def: d, Via: via})
	if err := cell.Equip(sample.WeaponData{Name: "\xff", Gem: new(sample.GemData)}, nil); !errors.Is(err, entity.ErrArguments) || !errors.Is(err, property.ErrValue) {
		t.Errorf("error is %v", err)
	}
	wrong := sample.NewAvatarBaseMailbox(entity.Mailbox{ID: 1, Kind: entity.CellMailbox, Def: d, Via: via})
	if err := wrong.Balance("Ada"); !errors.Is(err, entity.ErrNoMethod) {
		t.Errorf("error is %v", err)
	}
	if avatar.heard != nil {
		t.Errorf("heard %q", avatar.heard)
	}
}

func TestHandlesAreOfTheirProperties(t *testing.T) {
	d := load(t).Type("Avatar")
	values := property.NewValues(d, property.CellSide, nil)
	var a sample.AvatarCell
	property.BindFields(&a, values)
	a.HP.Set(1.5)
	a.HpMax.Set(7)
	a.ALevel.Set(3)
	a.Timer1.Set(-9)
	if err := a.Bag.Append(sample.ValueOfItem(sample.ItemData{Kind: 4, Count: 2}), sample.ValueOfItem(sample.ItemData{Kind: 5})); err != nil {
		t.Fatal(err)
	}
	a.Bag.At(1).Count.Set(6)
	if err := a.Marks.SetAt(2, 2.5); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"HP": "1.5", "hpMax": "7", "aLevel": "3", "_timer1": "-9", "bag": "[[4 2] [5 6]]", "marks": "[0 0 2.5]", "health": "100",
	}
	for name, value := range want {
		if got := values.Get(d.Property(name).Index).String(); got != value {
			t.Errorf("%s is %s, want %s", name, got, value)
		}
	}
}

func TestStructuresOfAnotherShapeReadAsZero(t *testing.T) {
	for _, v := range []property.Value{{}, property.Int(4), property.List(property.Int(1))} {
		if diff := cmp.Diff(sample.WeaponData{}, sample.WeaponDataOf(v)); diff != "" {
			t.Errorf("of %v (-want +got):\n%s", v, diff)
		}
	}
}

func TestDigestsAreCompared(t *testing.T) {
	schema := load(t)
	if err := errors.Join(sample.CheckSchema(schema), sample.CheckClientSchema(schema)); err != nil {
		t.Error(err)
	}
	other := *schema
	other.Digest[0]++
	want := fmt.Sprintf("generated code is of definitions with digest %s, not %x: run go generate", sample.SchemaDigest, other.Digest)
	if err := sample.CheckSchema(&other); err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
	if err := sample.CheckClientSchema(&other); err != nil {
		t.Errorf("what concerns servers only: %v", err)
	}
	other.ClientDigest[0]++
	if err := sample.CheckClientSchema(&other); err == nil {
		t.Error("another client digest is accepted")
	}
}
