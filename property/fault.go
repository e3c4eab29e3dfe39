package property

import (
	"fmt"
	"strings"
)

// Fault is one mistake in a definition: where it is, what it is, and what to do about it.
type Fault struct {
	File    string `json:"file,omitempty"`    // path within the tree; "" for a definition written in Go
	Line    int    `json:"line,omitempty"`    // from 1; 0 for a fault of a whole file
	Element string `json:"element,omitempty"` // path of elements or names, such as Properties/health/Type
	Problem string `json:"problem"`
	Remedy  string `json:"remedy,omitempty"`
}

// Error writes the fault as file:line: element: problem; remedy.
func (f *Fault) Error() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(f.File)
		if f.Line > 0 {
			fmt.Fprintf(&b, ":%d", f.Line)
		}
		b.WriteString(": ")
	}
	if f.Element != "" {
		b.WriteString(f.Element + ": ")
	}
	b.WriteString(f.Problem)
	if f.Remedy != "" {
		b.WriteString("; " + f.Remedy)
	}
	return b.String()
}

// Faults is every mistake found in a tree, at most [MaxFaults]; it is the error of [Load] and
// [NewSchema]. errors.As finds a *Fault in it.
type Faults []*Fault

// Error lists all faults, one a line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, one := range f {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the faults one by one.
func (f Faults) Unwrap() []error {
	errs := make([]error, len(f))
	for i, one := range f {
		errs[i] = one
	}
	return errs
}

// position is where something was declared.
type position struct {
	file string
	line int
}

// report collects faults and notices of one load.
type report struct {
	faults  Faults
	notices Faults
	// seen refuses doubles: a parent's or interface's fault would otherwise appear once for each
	// type that includes it.
	seen map[Fault]bool
}

func newReport() *report { return &report{seen: make(map[Fault]bool)} }

func (r *report) fault(at position, element, problem, remedy string) {
	r.tell(&r.faults, Fault{at.file, at.line, element, problem, remedy}, "faults", "repair")
}

func (r *report) notice(at position, element, problem, remedy string) {
	r.tell(&r.notices, Fault{at.file, at.line, element, problem, remedy}, "notices", "see to")
}

// tell adds to a list what is not in it. The last place of a full list says that there is more.
func (r *report) tell(list *Faults, f Fault, what, remedy string) {
	if r.seen[f] || len(*list) >= MaxFaults {
		return
	}
	r.seen[f] = true
	if len(*list) == MaxFaults-1 {
		f = Fault{Problem: fmt.Sprintf("more than %d %s", MaxFaults-1, what), Remedy: remedy + " those listed first"}
	}
	*list = append(*list, &f)
}

// err returns the faults as an error, nil if there are none.
func (r *report) err() error {
	if len(r.faults) == 0 {
		return nil
	}
	return r.faults
}
