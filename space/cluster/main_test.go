package cluster_test

import (
	"flag"
	"os"
	"testing"
)

// atOnce is how many tests run at a time. Most of them wait for a world of processes to start, to
// find a death or to heal, and need a tenth of a core meanwhile.
const atOnce = "8"

func TestMain(m *testing.M) {
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "test.parallel" })
	if !asked {
		if err := flag.Set("test.parallel", atOnce); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
