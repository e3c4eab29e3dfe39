package wire_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// Every row has an id, a type, a sender and a taker of its own, and a sample in the tests of the
// codecs.
func TestTable(t *testing.T) {
	ids, types := map[wire.ID]bool{}, map[reflect.Type]bool{}
	answers, unasked := map[wire.ID]bool{}, map[wire.ID]bool{} // what questions want; what is a Call and no question
	for _, k := range wire.Kinds() {
		m := k.New()
		if typ := reflect.TypeOf(m); ids[k.ID] || types[typ] {
			t.Errorf("%s, of id %d, is in the table twice", k.Name, k.ID)
		} else {
			ids[k.ID], types[typ] = true, true
		}
		if got := wire.IDOf(m); got != k.ID {
			t.Errorf("the id of a %s is %d, the table says %d", k.Name, got, k.ID)
		}
		if want := strings.TrimPrefix(fmt.Sprintf("%T", m), "*"); k.ID.String() != k.Name || strings.TrimPrefix(want, "wire.") != k.Name {
			t.Errorf("a %s is named %q, its id %q", want, k.Name, k.ID)
		}
		ways := 0
		for from := wire.CellAppMgr; from <= wire.Observer; from++ {
			for to := wire.CellAppMgr; to <= wire.Observer; to++ {
				if wire.May(from, k.ID, to) {
					ways++
				}
			}
		}
		if ways == 0 {
			t.Errorf("nobody sends a %s", k.Name)
		}
		_, call := m.(wire.Call)
		if k.Answer != 0 {
			answers[k.Answer] = true
		} else if call {
			unasked[k.ID] = true
		}
		for from := wire.CellAppMgr; k.Answer != 0 && from <= wire.Observer; from++ {
			for to := wire.CellAppMgr; to <= wire.Observer; to++ {
				if wire.May(from, k.ID, to) && (!call || !wire.May(to, k.Answer, from)) {
					t.Errorf("a %v cannot answer the %s of a %v", to, k.Name, from)
				}
			}
		}
	}
	if !maps.Equal(answers, unasked) {
		t.Errorf("questions are answered by %v; there are the answers %v", answers, unasked)
	}
	for _, m := range samples() {
		if !types[reflect.TypeOf(m)] {
			t.Errorf("the table lacks %T", m)
		}
		delete(types, reflect.TypeOf(m))
	}
	for typ := range types {
		t.Errorf("no sample of %v", typ)
	}
}

// Whatever the package can read, and every id that it names, is in the table.
func TestTableIsComplete(t *testing.T) {
	names, ids := map[string]bool{}, 0
	for _, k := range wire.Kinds() {
		names[k.Name] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	messages := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil || n.Name.Name != "Parse" {
					break
				}
				messages++
				if of := n.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name; !names[of] {
					t.Errorf("the table lacks %s", of)
				}
			case *ast.ValueSpec:
				if strings.HasSuffix(n.Names[0].Name, "ID") {
					ids++
				}
			}
			return true
		})
	}
	if messages == 0 || ids != len(wire.Kinds()) {
		t.Errorf("%d ids and %d types of this package for %d messages", ids, messages, len(wire.Kinds()))
	}
}

func TestMay(t *testing.T) {
	for _, x := range []struct {
		from wire.Role
		id   wire.ID
		to   wire.Role
		want bool
	}{
		{wire.CellAppMgr, wire.AddCellID, wire.CellApp, true},
		{wire.CellApp, wire.AddCellID, wire.CellApp, false},
		{wire.BaseApp, wire.FlowID, wire.CellApp, true},
		{wire.BaseApp, wire.FlowID, wire.BaseApp, true},
		{wire.Observer, wire.FreezeID, wire.CellAppMgr, true},
		{wire.Observer, wire.FreezeID, wire.CellApp, false},
		{wire.BaseApp, wire.FreezeID, wire.CellAppMgr, false},
		{wire.BaseApp, wire.ProxyMadeID, wire.LoginApp, false},
		{wire.CellAppMgr, 0, wire.CellApp, false},
		{wire.CellAppMgr, 255, wire.CellApp, false},
		{0, wire.JoinID, wire.CellAppMgr, false},
		{200, wire.JoinID, wire.CellAppMgr, false},
		{wire.CellApp, wire.JoinID, 200, false},
	} {
		if got := wire.May(x.from, x.id, x.to); got != x.want {
			t.Errorf("a %v may send a %v to a %v: %v", x.from, x.id, x.to, got)
		}
	}
	if wire.Takes(wire.CellAppMgr, wire.AddCellID) || !wire.Takes(wire.CellApp, wire.AddCellID) || wire.Takes(wire.CellApp, 0) {
		t.Error("AddCell is for CellApps")
	}
}

func TestProved(t *testing.T) {
	for _, x := range []struct {
		standing mercury.Standing
		from     wire.Role
		id       wire.ID
		want     bool
	}{
		{mercury.Stranger, wire.Observer, wire.JoinID, false},
		{mercury.Observer, wire.Observer, wire.JoinID, true},
		{mercury.Operator, wire.CellApp, wire.JoinID, false},
		{mercury.Member, wire.CellApp, wire.JoinID, true},
		{mercury.Trusted, wire.BaseApp, wire.FlowID, true},
		{mercury.Observer, wire.Observer, wire.FreezeID, false},
		{mercury.Operator, wire.Observer, wire.FreezeID, true},
		{mercury.Trusted, wire.Observer, wire.FreezeID, true},
		{mercury.Operator, wire.CellAppMgr, wire.FreezeID, false},
		{mercury.Member, wire.CellAppMgr, wire.FreezeID, true},
		{mercury.Trusted, wire.Observer, wire.FlowID, false},
		{mercury.Trusted, wire.Observer, 255, false},
		{mercury.Trusted, 200, wire.FlowID, false},
	} {
		if got := wire.Proved(x.standing, x.from, x.id); got != x.want {
			t.Errorf("a %v may send a %v as a %v: %v", x.standing, x.id, x.from, got)
		}
	}
	for _, k := range wire.Kinds() { // none is said by who has proved nothing
		for from := range wire.Observer {
			if wire.Proved(mercury.Stranger, from+1, k.ID) {
				t.Errorf("a stranger may send a %v as a %v", k.ID, from+1)
			}
		}
	}
}

func TestNoMessage(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("IDOf takes a type that is no message")
		}
	}()
	wire.IDOf(alien{})
}

type alien struct{}

func (alien) Append(b []byte) []byte { return b }

// hot are messages of which an app sends many in each tick.
func hot() []wire.Message {
	return []wire.Message{
		&flow.Message{From: id, FromPart: entity.BasePart, To: id + 1, ToPart: entity.CellPart, Payload: make([]byte, 32)},
		&flow.Ack{To: id, From: id + 1, Number: 900},
		&ghost.Update{Head: head, Position: here, Direction: there},
		&wire.ClientMove{ID: id, ClientRest: flow.ClientRest{Position: here, Direction: there}},
		&wire.ClientPacket{ID: id, Packet: make([]byte, 100)},
	}
}

func BenchmarkEncode(b *testing.B) {
	messages, buf := hot(), make([]byte, 0, 1024)
	for i := 0; b.Loop(); i++ {
		buf = wire.Encode(buf[:0], messages[i%len(messages)])
	}
}

func TestEncodeDoesNotAllocate(t *testing.T) {
	messages, buf := hot(), make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() {
		for _, m := range messages {
			buf = wire.Encode(buf[:0], m)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
