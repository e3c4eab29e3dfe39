package property

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// counted is n elements made by a format that takes a number.
func counted(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// readXML reads all files as XML.
func readXML(t *testing.T, files fstest.MapFS) {
	t.Helper()
	for _, file := range files {
		d := xml.NewDecoder(bytes.NewReader(file.Data))
		for {
			_, err := d.RawToken()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A file of a megabyte cannot ask for minutes, nor for all memory: each of these once took from
// four seconds to two and a half minutes, and the components 199 GB. The limit is some ten times
// what they take now, in units of what it takes to read their bytes as XML and make nothing of
// them: seconds say little on a machine that is busy with other things.
func TestLoadTakesNoLongerThanItsFilesAreLong(t *testing.T) {
	const most = 40
	members := func(dir string, n int) string {
		return "-- " + dir + ".def --\n<root> <CellMethods>" + counted(n, "<m%d/>") + "</CellMethods> </root>\n"
	}
	for _, c := range []struct{ name, tree, want string }{
		{"components", one("<Components>"+counted(20000, "<c%d><Type>T</Type></c%[1]d>")+"</Components>") + members("component_defs/T", 100), "Components: more than 64 components"},
		{"members of components", one("<Components>"+counted(64, "<c%d><Type>T</Type></c%[1]d>")+"</Components>") + members("component_defs/T", 90000), "CellMethods: more than 4096 methods"},
		{"temporary names", one("<TempProperties>" + counted(90000, "<a%d/>") + "</TempProperties>"), "TempProperties: more than 4096 names"},
		{"arguments", one("<CellMethods> <m> <Args>" + counted(50000, "<a%d>INT8</a%[1]d>") + "</Args> </m> </CellMethods>"), "CellMethods/m/Args: more than 64"},
		{"an interface again and again", one("<Implements>"+strings.Repeat("<Interface>I</Interface>", 38000)+"</Implements>") + members("entity_defs/interfaces/I", 4000), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := tree(c.tree)
			unit := time.Now()
			readXML(t, files)
			start := time.Now()
			_, err := Load(files)
			took, reading := time.Since(start), start.Sub(unit)
			t.Logf("took %v, %.1f times what reading takes", took, took.Seconds()/reading.Seconds())
			if took > most*reading {
				t.Errorf("took %v, to read it takes %v", took, reading)
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %.200v, want %s", err, c.want)
			}
		})
	}
}
