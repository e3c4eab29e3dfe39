package sim

import (
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

var update = flag.Bool("update", false, "write the transcripts in testdata anew")

// heroine is the account of the player that the transcripts are about, and the name of its entity.
const heroine = "ada"

// TestTranscripts keeps the interactions that are worth reading as text, in testdata/transcripts.
// Each file is what the processes of a small cluster say to each other while one thing happens. If
// an interaction has changed, the test shows how. If the change is intended, write the files anew
// with
//
//	go test ./internal/sim -run '^TestTranscripts$' -args -update
//
// and review their diff along with the change.
func TestTranscripts(t *testing.T) {
	for _, k := range []struct {
		name   string
		intro  string
		script func(r *rig) *recorder
	}{
		{"login", loginIntro, login},
		{"border", borderIntro, crossBorder},
		{"death", deathIntro, loseCellApp},
		{"manager", managerIntro, replaceManager},
		{"seen", seenIntro, seeAndPart},
	} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			r := quietRig(t)
			err := r.run(func(*Cluster) error {
				r.wait(5 * time.Second) // time to cut the cells
				rec := k.script(r)
				rec.stop()
				compare(t, k.name, k.intro+"\n"+rec.String())
				return nil
			})
			if err != nil {
				t.Fatalf("%v\n%s", err, replay(t, ""))
			}
		})
	}
}

// quietRig is a cluster of two CellApps, whose cells stay as they are, and in which nobody plays.
// Its network has no jitter from the start, so that chance does not decide any order.
func quietRig(t *testing.T) *rig {
	t.Helper()
	o := Options{Seed: 1, CellApps: 2, BaseApps: 1, Players: -1, Rovers: -1, Balance: still(2)}
	if *verbose {
		o.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	c.net.SetLink(mercurytest.Link{Delay: 2 * time.Millisecond})
	return &rig{Cluster: c, t: t}
}

// compare compares a transcript with the file that keeps it, or writes that file.
func compare(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "transcripts", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("the interaction has changed (-%s +now):\n%s", file, diff)
	}
}

const loginIntro = `Ada logs in. A BaseApp makes her proxy, and her client goes there with the token that the LoginApp
gives it. The proxy makes her cell part, and from then on she plays.
`

func login(r *rig) *recorder {
	rec := r.record()
	r.enter()
	return rec
}

const borderIntro = `Ada walks from one cell into the next one, which another CellApp runs. It has a ghost of her
before she arrives; then it takes over her real. When she is far from the border, her ghost
behind it goes.
`

func crossBorder(r *rig) *recorder {
	rec := r.record()
	g := r.enter()
	r.walk(g, r.beside(g, ghostDistance+60))
	rec.begin()
	r.walk(g, r.beside(g, -ghostDistance-60))
	r.wait(time.Second)
	return rec
}

const seenIntro = `Bob comes into view of Ada, who stands on the next cell, and goes away again. Her script hears that a
client sees her, and some seconds after he has gone, that none does any more.
`

func seeAndPart(r *rig) *recorder {
	rec := r.record()
	g := r.enter()
	r.walk(g, r.beside(g, 40))
	r.wait(time.Second)
	bob := r.visitAs(1, "bob", r.world.schema)
	r.until("he plays", 10*time.Second, bob.Client.InWorld)
	r.walk(bob, r.beside(g, 400))
	r.wait(2 * space.UnwitnessedAfter)
	rec.begin()
	r.walk(bob, r.beside(g, -40))
	r.wait(time.Second)
	rec.remark("Bob goes.")
	r.walk(bob, r.beside(g, 400))
	r.wait(space.UnwitnessedAfter + 5*time.Second)
	return rec
}

const deathIntro = `The CellApp of Ada's cell dies. Her base restores her cell part from its backup on the CellApp
that is left, which had a ghost of her. She is of the next incarnation, and her client begins
anew.
`

func loseCellApp(r *rig) *recorder {
	rec := r.record()
	g := r.enter()
	r.walk(g, r.beside(g, 40))
	r.wait(5 * time.Second) // a backup is made
	on, _, v := r.real(g.Client.Player().ID)
	order := v.Order()
	rec.begin()
	rec.remark("%s dies.", title(on))
	on.crash()
	r.until("she has a real again", 10*time.Second, func() bool {
		again, _, v := r.real(g.Client.Player().ID)
		return again != nil && order.Before(v.Order())
	})
	r.wait(time.Second)
	return rec
}

const managerIntro = `The CellAppMgr dies while Ada plays, and another start of it learns from the others what there
is. Cells and entities stay where they are, and nobody is thrown out. She stands near a border,
so both CellApps have a part of her.
`

func replaceManager(r *rig) *recorder {
	rec := r.record()
	g := r.enter()
	r.walk(g, r.beside(g, 40))
	r.wait(time.Second)
	rec.begin()
	rec.remark("The CellAppMgr dies.")
	r.manager.crash()
	r.wait(2 * time.Second)
	rec.remark("It is started again, with the next term.")
	r.manager.restartAt = r.now + time.Millisecond
	term := r.terms + 1
	r.until("every CellApp has its geometry", 15*time.Second, func() bool { return r.everyoneIn(term) })
	r.wait(time.Second)
	return rec
}

// enter logs the heroine in.
func (r *rig) enter() *guest {
	r.t.Helper()
	g := r.visit(heroine, r.world.schema)
	r.until("she plays", 10*time.Second, g.Client.InWorld)
	return g
}

// beside is the place at a distance from the border on the guest's side, or beyond it if d is
// negative.
func (r *rig) beside(g *guest, d float64) property.Vector3 {
	r.t.Helper()
	at := g.Client.Player().Position
	if property.Distance(at, r.across(400)) < property.Distance(at, r.across(-400)) {
		return r.across(d)
	}
	return r.across(-d)
}

// walk leads a guest somewhere, and waits until its real is there.
func (r *rig) walk(g *guest, to property.Vector3) {
	r.t.Helper()
	for range 600 {
		at := g.Client.Player().Position
		d := property.Distance(at, to)
		if d == 0 {
			break
		}
		f := float32(walkSpeed / d)
		at.X, at.Z = at.X+float32((to.X-at.X)*f), at.Z+float32((to.Z-at.Z)*f)
		if d < walkSpeed {
			at = to
		}
		if err := g.Client.SetPosition(at, property.Vector3{X: 1}); err != nil {
			r.t.Fatal(err)
		}
		r.wait(100 * time.Millisecond)
	}
	r.until("she arrives", 10*time.Second, func() bool {
		on, _, v := r.real(g.Client.Player().ID)
		return on != nil && v.Position() == to
	})
}
