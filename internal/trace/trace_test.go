package trace_test

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/trace"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// A process that traces one entity tells of that one alone.
func Example() {
	plain := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return a
	}
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: plain}))
	t := trace.New(log)
	fmt.Println(t.Set("2048.1"))
	for _, id := range []entity.ID{2048<<32 | 1, 2048<<32 | 2} {
		if t.Of(id) {
			t.Step(12300*time.Millisecond, id, "Avatar", entity.Order{Incarnation: 1, Hop: 4}, "offload out", "space", 1)
		}
	}
	// Output:
	// <nil>
	// msg="entity trace" step="offload out" entity=2048.1 type=Avatar order=1.4 at=12.3s space=1
}

func TestSet(t *testing.T) {
	tr := trace.New(slog.New(slog.DiscardHandler))
	for _, x := range []struct{ text, list, fault string }{
		{"1.7, 1.7 4294967304", "1.7,1.8", ""},
		{"", "", ""},
		{"9007199254740992", "", "is no id"},
		{"1.4294967296", "", "is no id"},
		{"0", "", "is no id"},
		{"-1", "", "is no id"},
		{"1.2.3", "", "is no id"},
		{strings.Repeat("9", 500), "", "is no id"},
	} {
		err := tr.Set(x.text)
		if (err != nil) != (x.fault != "") || err != nil && !strings.Contains(err.Error(), x.fault) || tr.String() != x.list {
			t.Errorf("Set(%.20q): %v, list %q", x.text, err, tr)
		}
	}
	var many strings.Builder
	for i := range trace.MaxTraced {
		fmt.Fprintf(&many, "2097151.%d,", 1<<32-1-i)
	}
	if err := tr.Set(many.String()); err != nil {
		t.Error(err)
	}
	if n := len(tr.String()); n > watch.MaxText {
		t.Errorf("the longest list takes %d bytes, and a value has %d", n, watch.MaxText)
	}
	if err := tr.Set(many.String() + "1.1"); err == nil {
		t.Error("a longer list was taken")
	}
	if !tr.Of(2097151<<32|(1<<32-1)) || tr.Of(1) || (*trace.Trace)(nil).Of(1) {
		t.Error("the list is not what is traced")
	}
	if n := testing.AllocsPerRun(100, func() { tr.Of(5) }); n > 0 {
		t.Errorf("to ask allocates %v times", n)
	}
}

// FuzzParse: whatever is said, there is a list that says the same again, or an error.
func FuzzParse(f *testing.F) {
	f.Add("2048.1, 17")
	f.Add("1.2.3")
	f.Fuzz(func(t *testing.T, text string) {
		ids, err := trace.Parse(text)
		if err != nil {
			return
		}
		again, err := trace.Parse(trace.Format(ids))
		if err != nil || fmt.Sprint(again) != fmt.Sprint(ids) {
			t.Errorf("%v was read as %v: %v", ids, again, err)
		}
	})
}
