package main

import (
	"slices"
	"testing"
)

func TestGoFieldIsExported(t *testing.T) {
	for name, want := range map[string]string{
		"health": "Health", "hpMax": "HpMax", "HP": "HP", "_timer1": "Timer1", "__9lives": "X9lives", "___": "X", "id": "Id",
	} {
		if got := goField(name); got != want {
			t.Errorf("goField(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestGoAliasReadsCapitals(t *testing.T) {
	for name, want := range map[string]string{
		"WEAPON": "Weapon", "AVATAR_INFOS": "AvatarInfos", "_A__B_": "AB", "Avatar_info": "Avatar_info", "item": "Item", "_": "X", "X2": "X2", "_9": "X9",
	} {
		if got := goAlias(name); got != want {
			t.Errorf("goAlias(%q) = %q, want %q", name, got, want)
		}
	}
}

// A tag is written exactly when property.CheckFields would look for another name; the test of the
// sample binds such fields.
func TestTagSaysWhatTheFieldDoesNot(t *testing.T) {
	for name, want := range map[string]string{
		"health": "", "hpMax": "", "x": "", "aLevel": "", "id": "",
		"HP": " `property:\"HP\"`", "_timer1": " `property:\"_timer1\"`", "aBC": " `property:\"aBC\"`", "Name": " `property:\"Name\"`",
	} {
		if got := tag(goField(name), name); got != want {
			t.Errorf("tag for %q is %q, want %q", name, got, want)
		}
	}
}

func TestParametersAreDistinctAndFree(t *testing.T) {
	got := parameters([]string{"text", "type", "", "Text", "_x", "m", "len", "genList", "gender", "_", "9"}, []string{"m"})
	want := []string{"text", "typeArg", "arg3", "textArg", "x", "mArg", "lenArg", "genListArg", "gender", "arg10", "arg11"}
	if !slices.Equal(got, want) {
		t.Errorf("parameters are %q, want %q", got, want)
	}
}
