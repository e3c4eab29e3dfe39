// Defcheck reads a definition tree and prints what Cellscape makes of it.
//
//	defcheck DIR
//
// DIR holds entities.xml, or scripts/entities.xml. Defcheck prints the normalised model as JSON (property.Model) and exits
// with 0, or prints every fault on standard error, one a line, and exits with 1. It exits with 2 if it is called wrongly.
// A USER_TYPE needs a codec in Go and is a fault here: it is told by what name the tree calls it.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/cellscape/cellscape/property"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program: the exit status, and everything that it prints.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) != 1 || args[0] == "" || args[0][0] == '-' {
		fmt.Fprintln(stderr, "usage: defcheck DIR")
		return 2
	}
	schema, err := property.Load(os.DirFS(args[0]))
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	out := json.NewEncoder(stdout)
	out.SetEscapeHTML(false)
	out.SetIndent("", "\t")
	if err := out.Encode(schema.Model()); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}
