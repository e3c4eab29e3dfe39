package main

import (
	"fmt"
	"os"
	"strings"
)

// What go generate runs, and a part of what it writes.
func Example() {
	dir, err := os.MkdirTemp("", "defs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	_ = os.Mkdir(dir+"/entity_defs", 0o755)
	_ = os.WriteFile(dir+"/entities.xml", []byte(`<root> <Door hasBase="false"/> </root>`), 0o644)
	_ = os.WriteFile(dir+"/entity_defs/Door.def", []byte(`<root>
		<Properties> <open> <Type> BOOL </Type> <Flags> ALL_CLIENTS </Flags> </open> </Properties>
		<CellMethods> <knock> <Exposed/> <Args> <times> UINT8 </times> </Args> </knock> </CellMethods>
	</root>`), 0o644)

	var out strings.Builder
	status := run([]string{"-defs", dir, "-package", "world"}, "", &out, os.Stdout)
	_, cell, _ := strings.Cut(out.String(), "// DoorCell ")
	cell, _, _ = strings.Cut(cell, "// DoorCellMailbox ")
	fmt.Printf("// DoorCell %sstatus %d\n", cell, status)
	// Output:
	// // DoorCell has the properties of the cell part of Door: embed it in the script.
	// type DoorCell struct {
	// 	// open: BOOL, ALL_CLIENTS.
	// 	Open property.Bool
	// }
	//
	// // DoorCellMethods is the methods that the script of the cell part of Door must have. In the script's file, the line
	// //
	// //	var _ world.DoorCellMethods = (*Door)(nil)
	// //
	// // lets the compiler check it.
	// type DoorCellMethods interface {
	// 	// Knock: times UINT8, exposed to ALL_CLIENTS.
	// 	Knock(caller entity.ID, times uint8)
	// }
	//
	// status 0
}
