package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/sqlite"
	"github.com/cellscape/cellscape/entity/store/storetest"
	"github.com/cellscape/cellscape/property"
)

// childPath names the file to a child of TestKill, childRound which round it is of.
const (
	childPath  = "CELLSCAPE_TEST_STORE"
	childRound = "CELLSCAPE_TEST_ROUND"
)

// killRows is how many rows each write of the child replaces at once.
const killRows = 8

// items is a schema of one small type, indexed or not.
func items(t testing.TB, indexed bool) *store.Schema {
	t.Helper()
	return storetest.Schema(t, &property.Definition{Name: "Item", HasBase: true, Persistent: true, Properties: []*property.Property{
		{Name: "count", Type: property.Scalar(property.KindInt32), Flags: property.Base, Persistent: true, Indexed: indexed},
	}})
}

// itemOf is what row id has in a version: its size and bytes depend on both.
func itemOf(t testing.TB, typ *store.Type, id store.ID, version uint64) store.Record {
	t.Helper()
	base := property.NewValues(typ.Definition(), property.BaseSide, nil)
	if err := base.Load(0, property.Int(int64(version))); err != nil {
		t.Fatal(err)
	}
	columns, data, err := typ.Encode(base, nil, bytes.Repeat([]byte{byte(id), byte(version)}, int(version*311%4000)+1))
	if err != nil {
		t.Fatal(err)
	}
	return store.Record{Key: store.Key{Type: "Item", ID: id}, Version: version, Columns: columns, Data: data}
}

// TestKillChild is the process that TestKill kills. It tells each version that is confirmed.
func TestKillChild(t *testing.T) {
	path := os.Getenv(childPath)
	if path == "" {
		t.Skip("run by TestKill")
	}
	ctx := context.Background()
	fmt.Fprintln(os.Stdout, "begins")
	s, err := sqlite.Open(ctx, path, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	schema := items(t, os.Getenv(childRound)[len(os.Getenv(childRound))-1]%2 == 0)
	if _, err := s.Apply(ctx, schema, false); err != nil {
		t.Fatal(err)
	}
	version := uint64(0)
	list, err := s.Load(ctx, []store.Want{{Key: store.Key{Type: "Item", ID: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	if list[0].Err == nil {
		version = list[0].Version
	}
	for {
		version++
		var batch []store.Record
		for id := store.ID(1); id <= killRows; id++ {
			batch = append(batch, itemOf(t, schema.Type("Item"), id, version))
		}
		write := s.Write
		if version == 1 {
			write = s.Create
		}
		if err := write(ctx, batch); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(os.Stdout, "confirmed %d\n", version)
	}
}

// A process is killed a hundred times in the middle of what it writes, changes of tables too. The file
// opens again each time, has what was confirmed, and of each write all or nothing.
func TestKill(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 10
	}
	path := filepath.Join(t.TempDir(), "world.db")
	r := rand.New(rand.NewPCG(16, 4))
	confirmed, silent := uint64(0), 0
	longest := 150 * time.Millisecond // of a life; more where processes are slower
	for round := range rounds {
		before := confirmed
		confirmed = max(confirmed, killOne(t, path, round, time.Duration(r.Int64N(int64(longest)))))
		if confirmed == before {
			if silent++; silent*3 > round+1 && longest < 5*time.Second {
				longest *= 2
			}
		}
		confirmed = checkKilled(t, path, round, confirmed)
	}
	if confirmed == 0 || silent > rounds*4/5 {
		t.Errorf("%d of %d children confirmed nothing: kill them later", silent, rounds)
	}
	t.Logf("%d writes in %d lives; %d lives ended before the first", confirmed, rounds, silent)
}

// killOne runs a child, kills it when it has lived for a while, and returns the last version that
// it confirmed.
func killOne(t *testing.T, path string, round int, life time.Duration) (confirmed uint64) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self, "-test.run=^TestKillChild$", "-test.v")
	child.Env = append(os.Environ(), childPath+"="+path, childRound+"="+strconv.Itoa(round))
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(time.Minute, func() { _ = child.Process.Kill() })
	defer timer.Stop()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if lines.Text() == "begins" {
			timer.Reset(life)
		}
		var v uint64
		if n, _ := fmt.Sscanf(lines.Text(), "confirmed %d", &v); n == 1 {
			confirmed = v
		} else if bytes.Contains(lines.Bytes(), []byte("kill_test.go")) {
			t.Errorf("round %d: the child says %s", round, lines.Text())
		}
	}
	if err := child.Wait(); err == nil {
		t.Errorf("round %d: the child ended by itself", round)
	}
	return confirmed
}

// checkKilled opens what a dead process left, and returns the version that is there.
func checkKilled(t *testing.T, path string, round int, confirmed uint64) uint64 {
	t.Helper()
	ctx := context.Background()
	s, err := sqlite.Open(ctx, path, sqlite.Config{})
	if err != nil {
		t.Fatalf("round %d: the file does not open: %v", round, err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
	}()
	schema := items(t, round%3 == 0)
	if _, err := s.Apply(ctx, schema, false); err != nil {
		t.Fatalf("round %d: %v", round, err)
	}
	var wants []store.Want
	for id := store.ID(1); id <= killRows; id++ {
		wants = append(wants, store.Want{Key: store.Key{Type: "Item", ID: id}})
	}
	list, err := s.Load(ctx, wants)
	if err != nil {
		t.Fatalf("round %d: %v", round, err)
	}
	version := list[0].Version
	for i, l := range list {
		switch {
		case l.Err != nil && confirmed == 0 && version == 0:
			continue
		case l.Err != nil || l.Version < confirmed || l.Version != version:
			t.Fatalf("round %d: row %d is of version %d (%v), row 1 of %d, and %d was confirmed", round, i+1, l.Version, l.Err, version, confirmed)
		case !bytes.Equal(l.Data, itemOf(t, schema.Type("Item"), l.ID, version).Data):
			t.Fatalf("round %d: row %d has other data than were written", round, i+1)
		}
	}
	if round%10 == 9 {
		checkIntegrity(t, path)
	}
	return version
}

func checkIntegrity(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var told string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&told); err != nil || told != "ok" {
		t.Fatalf("the file is damaged: %s, %v", told, err)
	}
}
