package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
)

// Guild is a base that has the gold of many.
type Guild struct {
	*entity.Base
	Gold property.Int32
}

// Pay is a method with a result. An error of the game travels, too.
func (g *Guild) Pay(amount int32) (int32, error) {
	if amount > g.Gold.Get() {
		return 0, &entity.GameError{Code: 402, Text: "the guild is poor"}
	}
	g.Gold.Set(g.Gold.Get() - amount)
	return g.Gold.Get(), nil
}

// Member is somebody in the world who asks his guild for gold.
type Member struct {
	*space.Real
	Guild property.MailboxField
	tell  chan string `cellscape:"local"`
}

// OnCreated asks twice. The answers are told to OnPaid, in this order.
func (m *Member) OnCreated() {
	guild := m.Mailbox(m.Guild.Get())
	if err := errors.Join(guild.Then("OnPaid", 30).Call("pay", 30), guild.Then("OnPaid", 500).Call("pay", 500)); err != nil {
		m.tell <- err.Error()
	}
}

// OnPaid hears what became of a call, wherever the member is by then.
func (m *Member) OnPaid(r entity.Reply) {
	var left int32
	var poor *entity.GameError
	switch err := r.Scan(&left); {
	case errors.As(err, &poor):
		m.tell <- fmt.Sprintf("asked for %d: error %d, %s", r.User, poor.Code, poor.Text)
	case err != nil:
		m.tell <- err.Error()
	default:
		m.tell <- fmt.Sprintf("asked for %d: got it, %d are left", r.User, left)
	}
}

// MemberBase is his base part, which lets him in.
type MemberBase struct{ *entity.Base }

// Enter makes the cell part, which is told of its guild.
func (b *MemberBase) Enter(guild property.Mailbox) {
	_ = b.CreateCell(1, property.Vector3{}, property.Vector3{}, func(v *property.Values) {
		_ = v.Set(v.Definition().Property("guild").Index, property.MailboxValue(guild))
	})
}

// OnCreated of the guild makes a member come in.
func (g *Guild) OnCreated() {
	if err := g.CreateBase(entity.BaseInfo{Type: "Member"}, "OnMember", 0); err != nil {
		g.Log().Error("no member", "error", err)
	}
}

// OnMember tells the new member, on whatever BaseApp it is, of its guild: a base passes as its mailbox.
func (g *Guild) OnMember(r entity.BaseReply) { _ = g.Mailbox(r.Base).Call("enter", g) }

// A cell part calls the base of another entity, and is answered.
func Example_twoWayCall() {
	i32, box := property.Scalar(property.KindInt32), property.Scalar(property.KindMailbox)
	schema, err := property.NewSchema(
		&property.Definition{Name: "Guild", HasBase: true,
			Properties:  []*property.Property{{Name: "gold", Type: i32, Flags: property.Base, Default: property.Int(100)}},
			BaseMethods: []*property.Method{{Name: "pay", Args: []property.Arg{{Name: "amount", Type: i32}}, Returns: []property.Arg{{Name: "left", Type: i32}}}}},
		&property.Definition{Name: "Member", HasBase: true, HasCell: true,
			Properties:  []*property.Property{{Name: "guild", Type: box, Flags: property.CellPrivate}},
			BaseMethods: []*property.Method{{Name: "enter", Args: []property.Arg{{Name: "guild", Type: box}}}}},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	tell := make(chan string, 2)
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register(cells, "Member", func() *Member { return &Member{tell: tell} })
	baseapp.Register[MemberBase](bases, "Member")
	baseapp.Register[Guild](bases, "Guild")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	world, err := cluster.Start(ctx, cluster.Config{CellScripts: cells, BaseScripts: bases, CellApps: 1, BaseApps: 1, Log: slog.New(slog.DiscardHandler),
		BaseStart: func(s *baseapp.Starter) {
			if _, err := s.CreateBase("Guild", nil); err != nil {
				tell <- err.Error()
			}
		}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		select {
		case what := <-tell:
			fmt.Println(what)
		case <-ctx.Done():
			fmt.Println("no answer")
		}
	}
	world.Stop()
	// Output:
	// asked for 30: got it, 70 are left
	// asked for 500: error 402, the guild is poor
}
