// Defcheck reads a definition tree and prints what Cellscape makes of it.
//
//	defcheck DIR
//
// DIR holds entities.xml, or scripts/entities.xml. Defcheck prints the normalised model as JSON
// (package property/model) and exits with 0, or prints every fault on standard error, one a line,
// and exits with 1. It exits with 2 if it is called wrongly.
//
// A USER_TYPE needs a codec that the game writes in Go, which defcheck does not have. It is no
// fault here: standard error tells each by the name that the tree calls it, the model lists it
// under needCodec, and everything else is checked and shown. The digests of such a model are not
// those that the game's servers will have.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/property/model"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program: the exit status, and everything that it prints.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) != 1 || args[0] == "" || args[0][0] == '-' {
		fmt.Fprintln(stderr, "usage: defcheck DIR")
		return 2
	}
	schema, err := property.LoadWith(os.DirFS(args[0]), property.Options{Survey: true})
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	for _, m := range schema.MissingTypes {
		fmt.Fprintf(stderr, "USER_TYPE %s needs a Go codec: write a property.UserCodec and give property.NewUserType(%q, codec) in property.Options.UserTypes[%q]; named at %s\n",
			m.Name, m.Name, m.Name, strings.Join(m.Where, ", "))
	}
	out := json.NewEncoder(stdout)
	out.SetEscapeHTML(false)
	out.SetIndent("", "\t")
	if err := out.Encode(model.Of(schema)); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}
