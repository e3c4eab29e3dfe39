package space

import (
	"strings"
	"testing"

	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/property"
)

type plain struct{ Hp property.Uint32 }

type forgetful struct {
	*Real
	Hp    property.Uint32
	Count int
}

func (*forgetful) Hit(uint32) {}
func (*forgetful) Own(uint32) {}

type rock struct{ *Real }

func TestRegisterFaults(t *testing.T) {
	s := NewScripts(testSchema(t))
	Register[plain](s, "Avatar")
	Register[rock](s, "Stone")
	Register[rock](s, "Account")
	Register[int](s, "Avatar")
	Register[rock](s, "Rock")
	Register[rock](s, "Rock")
	Register[forgetful](s, "Avatar")
	want := []string{
		`space: script for Avatar: space.plain does not embed *space.Real; add that field`,
		`space: script for Stone: the definitions have no entity type "Stone"; add it to entities.xml`,
		`space: script for Account: the definitions give it no cell part; set hasCell in entities.xml, or remove the script`,
		`space: script for Avatar: int is not a struct; register one`,
		`space: script for Rock: it has the script *space.rock already; register one of the two`,
		`space: script for Avatar: *space.forgetful.Own: takes 1 parameters and returns 0 values, but method "own" needs 2 and none (the first is the caller's entity.ID)`,
		`*space.forgetful: no Go method All for method "all"; add func (*space.forgetful) All`,
		`*space.forgetful: no Go method Boom for method "boom"; add func (*space.forgetful) Boom`,
		`*space.forgetful: no Go method Mark for method "mark"; add func (*space.forgetful) Mark`,
		`*space.forgetful: no Go method Pay for method "pay"; add func (*space.forgetful) Pay`,
		"space.forgetful.Count: int is not a property and would be lost on a move; make it a property.Field of a property, or tag it `cellscape:\"local\"`",
	}
	err := s.Err()
	if err == nil {
		t.Fatal("no faults")
	}
	if got := err.Error(); got != strings.Join(want, "\n") {
		t.Errorf("faults:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}

// A fault of the witness must show here, and not when the first player comes.
func TestConfigFaultsOfWitness(t *testing.T) {
	c := Config{Witness: witness.Config{BytesPerTick: -1}}.WithDefaults()
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "BytesPerTick is -1") {
		t.Errorf("faults of the witness: %v", err)
	}
}

// Turns are spread over what can be seen, whether the radius is set for all or by a script.
func TestTurnsReachAsFarAsSight(t *testing.T) {
	for _, tt := range []struct {
		cfg  Config
		want float32
	}{
		{Config{}, DefaultAoIRadius},
		{Config{AoIRadius: 80}, 80},
		{Config{AoIRadius: 80, Witness: witness.Config{MaxRadius: 200}}, 200},
	} {
		if got := tt.cfg.WithDefaults().Witness.MaxRadius; got != tt.want {
			t.Errorf("%+v: %v m, want %v", tt.cfg, got, tt.want)
		}
	}
	if err := (Config{AoIRadius: -1}).WithDefaults().Validate(); err == nil || strings.Contains(err.Error(), "MaxRadius") {
		t.Errorf("a negative radius: %v", err)
	}
}

func TestConfigFaults(t *testing.T) {
	if err := (Config{}).WithDefaults().Validate(); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
	c := Config{Border: balance.Border{GhostDistance: 100, Band: 13}, Dwell: -1, ArtificialLoad: -1, ClientTopSpeed: 31}.WithDefaults()
	want := `space: ClientTopSpeed 31 m/s must be from 0 to TopSpeed, 30 m/s; leave it zero for no check
space: ArtificialLoad must not be negative; zero means measured load
space: Dwell must not be negative; zero means none
space: Border: border: Band is 13; set more than 0 and at most 12.5 metres, half of the narrowest cell, or leave it zero for the default
space: Border.GhostDistance 100 m is too short: AoIRadius + AoIHysteresis + Border.Band + TopSpeed × CheckPeriod = 524 m; leave it zero, raise it or lower AoIRadius`
	if err := c.Validate(); err == nil || err.Error() != want {
		t.Errorf("faults:\n%v\nwant:\n%s", err, want)
	}
}

// Ghosts reach by default as far as players must see them, and at least as far as balance.Border
// has it.
func TestGhostsReachAsFarAsPlayersSee(t *testing.T) {
	for _, tt := range []struct {
		cfg  Config
		want float64
	}{
		{Config{}, balance.DefaultGhostDistance},
		{Config{AoIRadius: 900}, 900 + 5 + 10 + 30*0.2},
		{Config{TopSpeed: 300}, 500 + 5 + 10 + 300*0.2},
		{Config{AoIRadius: 900, Border: balance.Border{GhostDistance: 700}}, 700},
	} {
		c := tt.cfg.WithDefaults()
		if got := c.Border.GhostDistance; got != tt.want {
			t.Errorf("%+v: %v m, want %v", tt.cfg, got, tt.want)
		}
		if err := c.Validate(); (err == nil) != (tt.cfg.Border.GhostDistance == 0) {
			t.Errorf("%+v: %v", tt.cfg, err)
		}
	}
}
