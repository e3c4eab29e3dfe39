package script

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cellscape/cellscape/property"
)

// Hooks says which methods of a script are called by the library, and by what other way a method may be called. A method
// that looks like a callback and is none would never be called: [Hooks.Check] refuses it.
type Hooks struct {
	// Own are interfaces of one method each: what the library calls on such a script.
	Own []reflect.Type
	// Foreign are the names of callbacks that scripts of other parts have.
	Foreign []string
	// Part is what the script embeds, as *Base; its methods are not the script's.
	Part reflect.Type
	// Methods are those of the definition that the script answers.
	Methods []*property.Method
	// Named reports whether a method can be called by the name that the script gives along, as a timer's, and whether
	// such methods are told from callbacks by their parameters.
	Named func(m reflect.Method) (named, apart bool)
	// Ways says in words what a method beginning with On may be beside a callback: "a timer's func (T) OnX()".
	Ways string
}

// Check refuses every method of script, a *T, that the game wrote to be called and that nothing calls: one whose name
// begins with On and a capital, or is a callback's but for a letter or two, or is a callback's with another signature. The
// error names the nearest callback, and the right signature. All faults are reported at once.
func (h *Hooks) Check(script reflect.Type) error {
	var faults []error
	for i := range script.NumMethod() {
		m := script.Method(i)
		if h.Part != nil {
			if _, ofPart := h.Part.MethodByName(m.Name); ofPart {
				continue
			}
		}
		if h.describes(m.Name) {
			continue
		}
		if err := h.check(script, m); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

func (h *Hooks) describes(name string) bool {
	for _, m := range h.Methods {
		if property.GoName(m.Name) == name {
			return true
		}
	}
	return false
}

func (h *Hooks) check(script reflect.Type, m reflect.Method) error {
	for _, own := range h.Own {
		if hook := own.Method(0); hook.Name == m.Name {
			if got := withoutReceiver(m.Type); got != hook.Type {
				return fmt.Errorf("%s.%s: its signature is %v, so that it is never called; the callback is func (%s) %s%s", script, m.Name, got, script, m.Name, tail(hook.Type))
			}
			return nil
		}
	}
	named, apart := false, false
	if h.Named != nil {
		named, apart = h.Named(m)
	}
	near, distance := h.nearest(m.Name)
	mistaken := distance <= max(2, len(near)/4)
	switch {
	case named && (apart || !mistaken && !h.isForeign(m.Name)):
		return nil
	case !mistaken && !looksLikeHook(m.Name):
		return nil
	}
	return fmt.Errorf("%s.%s: nothing calls it: %s", script, m.Name, h.remedy(script, m.Name, near, mistaken))
}

func (h *Hooks) remedy(script reflect.Type, name, near string, mistaken bool) string {
	var b strings.Builder
	if h.isForeign(name) {
		b.WriteString("it is a callback of another part of the entity; ")
	}
	for _, own := range h.Own {
		if hook := own.Method(0); hook.Name == near {
			ask, end := "the nearest callback is", "."
			if mistaken {
				ask, end = "did you mean", "?"
			}
			fmt.Fprintf(&b, "%s func (%s) %s%s%s ", ask, script, near, tail(hook.Type), end)
		}
	}
	b.WriteString("A method that begins with On is a callback, a method of the definition")
	if h.Ways != "" {
		b.WriteString(", or " + h.Ways)
	}
	return b.String() + "; rename what only your own code calls"
}

// nearest returns the callback with the most similar name, upper and lower case being the same.
func (h *Hooks) nearest(name string) (near string, distance int) {
	distance = len(name) + 1
	for _, own := range h.Own {
		hook := own.Method(0).Name
		if d := editDistance(strings.ToLower(name), strings.ToLower(hook)); d < distance {
			near, distance = hook, d
		}
	}
	if near == "" {
		distance = 1 << 20 // a script of this kind has no callbacks
	}
	return near, distance
}

func (h *Hooks) isForeign(name string) bool {
	for _, f := range h.Foreign {
		if f == name {
			return true
		}
	}
	return false
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

// editDistance is how many letters must be put in, left out, changed or swapped with their neighbour to make b of a.
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
