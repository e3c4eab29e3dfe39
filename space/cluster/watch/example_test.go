package watch_test

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/space/cluster/watch"
)

// A game shows a counter and lets operators tune a number. cluster.Config.Watch is given such a
// tree.
func Example() {
	monsters, spawnRate := 37, 0.5
	t := watch.New()
	game := t.Under("game")
	watch.Show(game, "monsters", "that live now", func() int { return monsters })
	watch.Setting(game, "spawn_rate", "monsters a second", func() float64 { return spawnRate }, func(v float64) error {
		if v < 0 || v > 10 {
			return errors.New("take 0 to 10 monsters a second")
		}
		spawnRate = v
		return nil
	})
	if err := t.Err(); err != nil {
		panic(err) // two values of one name, for example
	}

	_, err := t.Set("game/spawn_rate", "100")
	fmt.Println(err)
	_, err = t.Set("game/monsters", "0")
	fmt.Println(errors.Is(err, watch.ReadOnly))
	_, err = t.Set("game/spawn_rate", "2.5")
	fmt.Println(err, spawnRate)
	list, _, _ := t.List("game", "", watch.MaxList)
	for _, v := range list {
		fmt.Println(v.Path, v.Text, v.Writable)
	}
	// Output:
	// watch: the value is refused: game/spawn_rate: take 0 to 10 monsters a second
	// true
	// <nil> 2.5
	// game/monsters 37 false
	// game/spawn_rate 2.5 true
}
