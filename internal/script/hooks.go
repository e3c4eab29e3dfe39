package script

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cellscape/cellscape/property"
)

// hookCheck refuses what a game wrote to be called and nothing calls. A method of a script is called
// by the library as a hook of its Kind, for a definition, as a setter, or by a name that the script
// gives along.
type hookCheck struct {
	*Kind
	// described are the methods of the definition that the script answers.
	described []*property.Method
}

// check refuses every method of script, a *T, that the game wrote to be called and that nothing
// calls: one whose name begins with On and a capital, or is a hook's but for a letter or two, or is
// a hook's with another signature. The error names the nearest hook, and the right signature. All
// faults are reported at once.
func (h *hookCheck) check(script reflect.Type) error {
	var faults []error
	for m := range script.Methods() {
		if h.ofPart(m.Name) || h.answers(m.Name) {
			continue
		}
		if err := h.checkMethod(script, m); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

func (h *hookCheck) answers(name string) bool {
	return slices.ContainsFunc(h.described, func(m *property.Method) bool { return property.GoName(m.Name) == name })
}

func (h *hookCheck) checkMethod(script reflect.Type, m reflect.Method) error {
	for _, own := range h.Hooks {
		if hook := own.Method(0); hook.Name == m.Name {
			if got := withoutReceiver(m.Type); got != hook.Type {
				return fmt.Errorf("%s.%s: its signature is %v, so that it is never called; the hook is func (%s) %s%s", script, m.Name, got, script, m.Name, tail(hook.Type))
			}
			return nil
		}
	}
	near, distance := h.nearest(m.Name)
	mistaken := distance <= max(2, len(near)/4)
	if h.isCallback(m) || h.Setters && property.IsSetterName(m.Name) || !mistaken && !looksLikeHook(m.Name) {
		return nil
	}
	return fmt.Errorf("%s.%s: nothing calls it: %s", script, m.Name, h.remedy(script, m.Name, near, mistaken))
}

func (h *hookCheck) remedy(script reflect.Type, name, near string, mistaken bool) string {
	var b strings.Builder
	if h.isForeign(name) {
		b.WriteString("it is a hook of another part of the entity; ")
	}
	if !h.Setters && property.IsSetterName(name) {
		b.WriteString("a setter hears of a change that was made elsewhere, at ghosts and at clients; here the script itself makes it. ")
		near = ""
	}
	for _, own := range h.Hooks {
		if hook := own.Method(0); hook.Name == near {
			ask, end := "the nearest hook is", "."
			if mistaken {
				ask, end = "did you mean", "?"
			}
			fmt.Fprintf(&b, "%s func (%s) %s%s%s ", ask, script, near, tail(hook.Type), end)
		}
	}
	ways := []string{"a hook"}
	if h.Methods != nil {
		ways = append(ways, "a method of the definition")
	}
	for _, c := range h.Callbacks {
		ways = append(ways, fmt.Sprintf("a callback by name, func (T) OnX(%v)", c))
	}
	if h.Setters {
		ways = append(ways, "a setter, func (T) OnSetHealth(c *property.Change) for a property health")
	}
	return b.String() + "A method that begins with On is " + strings.Join(ways, ", or ") + "; rename what only your own code calls"
}

// nearest returns the hook with the most similar name, upper and lower case being the same.
func (h *hookCheck) nearest(name string) (near string, distance int) {
	distance = len(name) + 1
	for _, own := range h.Hooks {
		hook := own.Method(0).Name
		if d := editDistance(strings.ToLower(name), strings.ToLower(hook)); d < distance {
			near, distance = hook, d
		}
	}
	if near == "" {
		distance = 1 << 20 // a script of this kind has no hooks
	}
	return near, distance
}

// looksLikeHook reports whether a name begins with On and a new word: OnHit does, Online does not.
func looksLikeHook(name string) bool {
	rest, ok := strings.CutPrefix(name, "On")
	r, _ := utf8.DecodeRuneInString(rest)
	return ok && (unicode.IsUpper(r) || r == '_')
}

// withoutReceiver is the type of a method as an interface has it.
func withoutReceiver(t reflect.Type) reflect.Type {
	var in, out []reflect.Type
	for i := 1; i < t.NumIn(); i++ {
		in = append(in, t.In(i))
	}
	for i := range t.NumOut() {
		out = append(out, t.Out(i))
	}
	return reflect.FuncOf(in, out, t.IsVariadic())
}

// tail is a signature without the word func.
func tail(t reflect.Type) string { return strings.TrimPrefix(t.String(), "func") }

// editDistance is how many letters must be put in, left out, changed or swapped with their neighbour
// to make b of a.
func editDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
