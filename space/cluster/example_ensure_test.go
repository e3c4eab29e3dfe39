package cluster_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
)

// Auction is a base of which the world has one.
type Auction struct{ *entity.Base }

// OnCreated is called once in a world, however many BaseApps it has.
func (a *Auction) OnCreated() { fmt.Println("the auction opens") }

// Config.BaseStart runs on each BaseApp. What it ensures is made by one of them, and found by the others.
func Example_ensure() {
	schema, err := property.NewSchema(&property.Definition{Name: "Auction", HasBase: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	bases := baseapp.NewScripts(schema)
	baseapp.Register[Auction](bases, "Auction")
	tell := make(chan entity.NameReply, 2)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	world, err := cluster.Start(ctx, cluster.Config{CellScripts: space.NewScripts(schema), BaseScripts: bases, CellApps: 1, BaseApps: 2, Log: slog.New(slog.DiscardHandler),
		BaseStart: func(s *baseapp.Starter) {
			if err := s.Ensure("Auction", "auction", nil, func(r entity.NameReply) { tell <- r }); err != nil {
				fmt.Println(err)
			}
		}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var holders []property.Mailbox
	for range 2 {
		select {
		case r := <-tell:
			if r.Err != nil {
				fmt.Println(r.Err)
			}
			holders = append(holders, r.Holder)
		case <-ctx.Done():
			fmt.Println("no answer")
		}
	}
	fmt.Println("BaseApps that know it:", len(holders), "entities:", len(slices.Compact(holders)))
	world.Stop()
	// Output:
	// the auction opens
	// BaseApps that know it: 2 entities: 1
}
