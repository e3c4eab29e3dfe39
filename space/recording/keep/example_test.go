package keep_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/cellscape/cellscape/space/recording"
	"github.com/cellscape/cellscape/space/recording/keep"
)

// A world is given Files as its cluster.Config.Recorder, and Find gives what a replay.Player plays.
func Example() {
	dir, err := os.MkdirTemp("", "recordings")
	check(err)
	defer func() { check(os.RemoveAll(dir)) }()
	files, err := keep.NewFiles(keep.FilesConfig{Dir: dir})
	check(err)

	log, err := files.Open(&recording.Header{Space: 1, Number: 12, Label: "final", App: "10.0.0.4:40001"}) // as a cell does
	check(err)
	var e recording.Encoder
	e.EndKey()
	check(log.Append(e.Chunk(recording.Head{Game: time.Minute, Key: true})))
	check(files.Close(context.Background()))

	found, err := keep.Find(dir)
	check(err)
	for _, r := range found {
		fmt.Println(r.Space, r.Label, len(r.Logs), "log from", r.Logs[0].Head(0).Game)
		check(r.Close())
	}
	// Output: 1 final 1 log from 1m0s
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
