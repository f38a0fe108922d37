//! Names of prefabs and locations, which files since 1.0 hold only as hashes.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use super::hash::{ascii_hash, stable_hash};

/// Why an object's properties are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// They are not.
    None,
    /// It tells the world's seed.
    LocationProxy,
    /// It has a tag.
    Portal,
    /// It has an owner.
    Bed,
}

const LOCATION_PROXY: i32 = ascii_hash("LocationProxy");
const PORTAL: i32 = ascii_hash("portal");
const PORTAL_WOOD: i32 = ascii_hash("portal_wood");
const PORTAL_STONE: i32 = ascii_hash("portal_stone");
const BED: i32 = ascii_hash("bed");
const DRAGON_BED: i32 = ascii_hash("piece_bed02");

impl Interest {
    /// Why a prefab's properties are looked at.
    #[inline]
    pub fn of(prefab: i32) -> Self {
        match prefab {
            LOCATION_PROXY => Self::LocationProxy,
            PORTAL | PORTAL_WOOD | PORTAL_STONE => Self::Portal,
            BED | DRAGON_BED => Self::Bed,
            _ => Self::None,
        }
    }
}

/// The hash of the location in which players start.
pub const START_TEMPLE: i32 = ascii_hash("StartTemple");

/// The name behind a hash, where we know it.
pub fn name_of(hash: i32) -> Option<&'static str> {
    static NAMES: LazyLock<HashMap<i32, &'static str>> =
        LazyLock::new(|| KNOWN.split_whitespace().map(|name| (stable_hash(name), name)).collect());
    NAMES.get(&hash).copied()
}

/// A prefab for a person: its name, or its hash where we do not know the name.
pub struct Shown(pub i32);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match name_of(self.0) {
            Some(name) => f.write_str(name),
            None => write!(f, "prefab {}", self.0),
        }
    }
}

/// Names for display alone; nothing is decided by them. Those in `Interest` are decided by constants.
const KNOWN: &str = "
    StartTemple Eikthyrnir GDKing Bonemass Dragonqueen GoblinKing Mistlands_DvergrBossEntrance1 FaderLocation
    Vendor_BlackForest Hildir_camp BogWitch_Camp Hildir_crypt Hildir_cave Hildir_plainsfortress
    Crypt2 Crypt3 Crypt4 TrollCave02 SunkenCrypt4 MountainCave02 FireHole Grave1 Waymarker01 Waymarker02
    StoneCircle StoneHenge1 StoneHenge2 StoneHenge3 StoneHenge4 StoneHenge5 StoneHenge6 StoneTower1 StoneTower3
    StoneTowerRuins03 StoneTowerRuins04 StoneTowerRuins05 StoneTowerRuins07 StoneTowerRuins08 StoneTowerRuins09
    StoneTowerRuins10 StoneHouse1 StoneHouse2 StoneHouse3 StoneHouse4 StoneHouse5 StoneHouse1_heath
    StoneHouse2_heath StoneHouse3_heath StoneHouse4_heath StoneHouse5_heath WoodFarm1 WoodVillage1 WoodHouse1
    WoodHouse2 WoodHouse3 WoodHouse4 WoodHouse5 WoodHouse6 WoodHouse7 WoodHouse8 WoodHouse9 WoodHouse10
    WoodHouse11 WoodHouse12 WoodHouse13 GoblinCamp1 GoblinCamp2 Ruin1 Ruin2 Ruin3 Runestone_Greydwarfs
    Runestone_Meadows Runestone_Boars Runestone_BlackForest Runestone_Swamps Runestone_Mountains Runestone_Plains
    Runestone_Draugr Runestone_Mistlands Runestone_Ashlands SwampRuin1 SwampRuin2 SwampHut1 SwampHut2 SwampHut3
    SwampHut4 SwampHut5 SwampWell1 InfestedTree01 Dolmen01 Dolmen02 Dolmen03 ShipSetting01 ShipWreck01 ShipWreck02
    ShipWreck03 ShipWreck04 Greydwarf_camp1 BearCave AbandonedLogCabin02 AbandonedLogCabin03 AbandonedLogCabin04
    DrakeNest01 DrakeLorestone MountainGrave01 MountainWell1 TarPit1 TarPit2 TarPit3 Mistlands_DvergrTownEntrance1
    Mistlands_DvergrTownEntrance2 Mistlands_Excavation1 Mistlands_Excavation2 Mistlands_Excavation3
    Mistlands_Giant1 Mistlands_Giant2 Mistlands_GuardTower1_new Mistlands_GuardTower1_ruined_new
    Mistlands_GuardTower2_new Mistlands_GuardTower3_new Mistlands_GuardTower3_ruined_new Mistlands_Harbour1
    Mistlands_Lighthouse1_new Mistlands_RoadPost1 Mistlands_RockSpire1 Mistlands_StatueGroup1 Mistlands_Statue1
    Mistlands_Statue2 Mistlands_Swords1 Mistlands_Swords2 Mistlands_Swords3 Mistlands_Viaduct1 Mistlands_Viaduct2
    CharredFortress CharredRuins1 CharredRuins2 CharredRuins3 CharredRuins4 CharredStone_Spawner CharredTowerRuins1
    CharredTowerRuins1_dvergr CharredTowerRuins2 CharredTowerRuins3 FortressRuins LeviathanLava MorgenHole1
    MorgenHole2 MorgenHole3 PlaceofMystery1 PlaceofMystery2 PlaceofMystery3 SulfurArch VoltureNest AshlandRuins

    _ZoneCtrl _TerrainCompiler LocationProxy Player_tombstone Beech1 Beech_small1 Beech_small2 Beech_Sapling Beech_Stub
    Birch1 Birch2 Birch1_aut Birch2_aut Birch_Sapling BirchStub FirTree FirTree_small FirTree_small_dead
    FirTree_Sapling FirTree_Stub FirTree_oldLog Oak1 Oak_Sapling OakStub Pinetree_01 Pinetree_01_Stub PineTree
    PineTree_Sapling SwampTree1 SwampTree1_Stub SwampTree2 SwampTree2_darkland stubbe stubbe_spawner Bush01
    Bush01_heath Bush02_en shrub_2 shrub_2_heath vines YggaShoot1 YggaShoot2 YggaShoot3 YggaShoot_small1
    YggdrasilRoot RaspberryBush BlueberryBush CloudberryBush Pickable_Branch Pickable_Stone Pickable_Flint
    Pickable_Mushroom Pickable_Mushroom_yellow Pickable_Mushroom_blue Pickable_Dandelion Pickable_Thistle
    Pickable_SeedCarrot Pickable_SeedTurnip Pickable_Barley Pickable_Barley_Wild Pickable_Flax Pickable_Flax_Wild
    Pickable_Carrot Pickable_Turnip Pickable_Onion Pickable_SeedOnion Pickable_Obsidian Pickable_Tar
    Pickable_TarBig Pickable_SurtlingCoreStand Pickable_BogIronOre Pickable_DolmenTreasure
    Pickable_ForestCryptRemains01 Pickable_ForestCryptRemains02 Pickable_ForestCryptRemains03
    Pickable_ForestCryptRandom Pickable_SunkenCryptRandom Pickable_DragonEgg Pickable_Item Pickable_RandomFood
    Pickable_Fishingrod Pickable_SmokePuff Pickable_Fiddlehead
    Rock_3 Rock_4 Rock_4_plains Rock_7 Rock_destructible rock1_mountain rock2_heath rock2_mountain rock3_mountain
    rock3_silver rock4_coast rock4_forest rock4_heath rock4_copper rock_a rock_b rock_c RockFinger RockThumb
    HugeRoot1 highstone widestone MineRock_Copper MineRock_Iron MineRock_Tin MineRock_Stone MineRock_Obsidian
    MineRock_Meteorite silvervein mudpile mudpile2 mudpile_beacon Leviathan ice1 ice_rock1 giant_skull giant_ribs
    giant_brain giant_helmet1 cliff_mistlands1 cliff_mistlands2 rock_mistlands1 rock_mistlands2
    Boar Deer Neck Greyling Greydwarf Greydwarf_Elite Greydwarf_Shaman Troll Skeleton Skeleton_Poison
    Skeleton_NoArcher Ghost Draugr Draugr_Elite Draugr_Ranged Blob BlobElite BlobTar Leech Wraith Surtling Wolf
    Wolf_cub Hatchling StoneGolem Fenring Fenring_Cultist Ulv Bat Deathsquito Lox Lox_Calf Goblin GoblinArcher
    GoblinBrute GoblinShaman Serpent Abomination Hare Hen Chicken Tick Seeker SeekerBrute SeekerBrood Gjall Dverger
    Crow Seagal Eikthyr gd_king Dragon SeekerQueen Fader Haldor Hildir BogWitch Fish1 Fish2 Fish3 Fish4_cave Fish5
    Fish6 Fish7 Fish8 Fish9 Fish10 Fish11 Fish12 FishingFloat odin Valkyrie Raven Hugin Munin
    Spawner_Boar Spawner_Deer Spawner_Greydwarf Spawner_Greydwarf_Elite Spawner_Greydwarf_Shaman
    Spawner_GreydwarfNest Spawner_Skeleton Spawner_Skeleton_poison Spawner_Skeleton_night_noarcher
    Spawner_Skeleton_respawn_30 Spawner_Draugr Spawner_Draugr_Elite Spawner_Draugr_Ranged Spawner_Draugr_Noise
    Spawner_Draugr_respawn_30 Spawner_DraugrPile Spawner_Troll Spawner_Ghost Spawner_Goblin Spawner_GoblinArcher
    Spawner_GoblinBrute Spawner_GoblinShaman Spawner_Hatchling Spawner_StoneGolem Spawner_Wraith Spawner_Blob
    Spawner_BlobElite Spawner_Leech_cave Spawner_imp_respawn Spawner_Fish4 Spawner_Location_Elite
    Spawner_Location_Greydwarf Spawner_Location_Shaman Spawner_Bat Spawner_Cultist Spawner_Fenring Spawner_Ulv
    BonePileSpawner EvilHeart_Forest EvilHeart_Swamp FireFlies LuredWisp
    TreasureChest_meadows TreasureChest_meadows_buried TreasureChest_blackforest TreasureChest_forestcrypt
    TreasureChest_trollcave TreasureChest_swamp TreasureChest_sunkencrypt TreasureChest_mountains
    TreasureChest_mountaincave TreasureChest_heath TreasureChest_fCrypt TreasureChest_plains_stone
    TreasureChest_dvergrtown TreasureChest_dvergrtower loot_chest_wood loot_chest_stone shipwreck_karve_chest
    shipwreck_karve_bottomboards shipwreck_karve_bow shipwreck_karve_dragonhead shipwreck_karve_stern
    shipwreck_karve_sternpost barrell Beehive ship_construction stoneblock_fracture StatueDeer StatueEvil StatueHare
    StatueSeed StatueCorgi GuardStone_test Vegvisir Vegvisir_Eikthyr Vegvisir_GDKing Vegvisir_Bonemass
    RuneStone_Meadows offeraltar_deer BossStone_Bonemass BossStone_DragonQueen BossStone_Eikthyr BossStone_TheElder
    BossStone_Yagluth BossStone_TheQueen BossStone_Fader dungeon_forestcrypt_door dungeon_sunkencrypt_irongate
    DG_ForestCrypt DG_SunkenCrypt DG_Cave DG_GoblinCamp DG_MeadowsFarm DG_MeadowsVillage DG_DvergrTown
    DG_DvergrBoss DG_ForestCrypt_hildir DG_Hildir_cave DG_Hildir_plainsfortress fCrypt_door
    bed piece_bed02 portal portal_wood portal_stone piece_cartographytable piece_workbench piece_workbench_ext1
    piece_workbench_ext2 piece_workbench_ext3 piece_workbench_ext4 forge forge_ext1 forge_ext2 forge_ext3
    forge_ext4 forge_ext5 forge_ext6 piece_stonecutter piece_artisanstation piece_magetable blackforge
    piece_cauldron piece_cookingstation piece_cookingstation_iron piece_oven smelter blastfurnace charcoal_kiln
    windmill piece_spinningwheel fermenter piece_beehive piece_chest_wood piece_chest piece_chest_private
    piece_chest_blackmetal piece_banner01 piece_banner02 piece_banner03 piece_banner04 piece_banner05 piece_chair
    piece_chair02 piece_chair03 piece_bench01 piece_table piece_table_oak piece_table_round piece_throne01
    piece_throne02 piece_brazierceiling01 piece_brazierfloor01 piece_groundtorch piece_groundtorch_wood
    piece_groundtorch_green piece_groundtorch_blue piece_walltorch piece_sharpstakes piece_maypole piece_xmastree
    piece_jackoturnip piece_gift1 piece_gift2 piece_gift3 piece_lavalantern piece_wisplure piece_trap_troll
    piece_turret piece_hexagonal_door piece_bathtub piece_pot1 piece_dvergr_lantern piece_dvergr_lantern_pole
    fire_pit fire_pit_iron hearth bonfire guard_stone sign itemstand itemstandh ArmorStand incinerator
    wood_wall wood_wall_half wood_wall_quarter wood_wall_log wood_wall_log_4x0.5 wood_wall_roof wood_wall_roof_45
    wood_wall_roof_top wood_wall_roof_top_45 wood_wall_roof_upsidedown wood_floor wood_floor_1x1 wood_roof
    wood_roof_45 wood_roof_icorner wood_roof_icorner_45 wood_roof_ocorner wood_roof_ocorner_45 wood_roof_top
    wood_roof_top_45 wood_pole wood_pole2 wood_pole_log wood_pole_log_4 wood_beam wood_beam_1 wood_beam_26
    wood_beam_45 wood_stair wood_stepladder wood_ledge wood_fence wood_door wood_gate wood_window wood_dragon1
    darkwood_roof darkwood_roof_45 darkwood_roof_top darkwood_roof_top_45 darkwood_roof_icorner
    darkwood_roof_ocorner darkwood_beam darkwood_beam4x4 darkwood_beam_26 darkwood_beam_45 darkwood_pole
    darkwood_pole4 darkwood_arch darkwood_decowall darkwood_gate darkwood_raven darkwood_wolf woodiron_beam
    woodiron_pole woodwall stone_wall_1x1 stone_wall_2x1 stone_wall_4x2 stone_floor stone_floor_2x2 stone_arch
    stone_pillar stone_stair stone_pile wood_stack wood_core_stack wood_fine_stack wood_yggdrasil_stack coal_pile
    bone_stack treasure_pile treasure_stack crystal_wall_1x1 iron_wall_1x1 iron_wall_2x2 iron_grate iron_floor_1x1
    iron_floor_2x2 blackmarble_1x1 blackmarble_2x1x1 blackmarble_2x2x2 blackmarble_arch blackmarble_floor
    blackmarble_stair Karve Raft VikingShip VikingShip_Ashlands Cart Catapult BatteringRam cultivate_v2 digg_v2
    mud_road_v2 paved_road_v2 path_v2 raise_v2 replant_v2 goblin_banner goblin_bed goblin_fence goblin_pole
    goblin_pole_small goblin_roof_45d goblin_roof_45d_corner goblin_roof_cap goblin_stairs goblin_stepladder
    goblin_strawpile goblin_totempole goblin_woodwall_1m goblin_woodwall_2m goblin_woodwall_2m_ribs dvergrprops_barrel
    dvergrprops_bed dvergrprops_chair dvergrprops_crate dvergrprops_crate_long dvergrprops_lantern
    dvergrprops_lantern_standing dvergrprops_pickaxe dvergrprops_shelf dvergrprops_stool dvergrprops_table
    dvergrprops_wood_beam dvergrprops_wood_floor dvergrprops_wood_pole dvergrprops_wood_stair
    dvergrprops_wood_stake dvergrprops_wood_wall dvergrtown_arch dvergrtown_secretdoor dvergrtown_slidingdoor
    dvergrtown_stair_corner_wood_left dvergrtown_wood_beam dvergrtown_wood_crane dvergrtown_wood_pole
    dvergrtown_wood_stake dvergrtown_wood_stakewall dvergrtown_wood_support dvergrtown_wood_wall01
    dvergrtown_wood_wall02 dvergrtown_wood_wall03
    Wood Stone Flint Resin LeatherScraps DeerHide RawMeat NeckTail Feathers Coal Copper CopperOre Tin TinOre Bronze
    Iron IronScrap Silver SilverOre BlackMetal BlackMetalScrap FineWood RoundLog ElderBark YggdrasilWood Raspberry
    Blueberries Cloudberry Mushroom MushroomYellow Honey Dandelion Thistle BeechSeeds PineCone FirCone Acorn
    BirchSeeds CarrotSeeds TurnipSeeds BoneFragments Coins Amber AmberPearl Ruby SurtlingCore TrollHide Ooze Entrails
    Guck Chain Chitin Obsidian Crystal FreezeGland WolfPelt WolfFang Needle Flax Barley Tar GreydwarfEye AncientSeed
    TrophyBoar TrophyDeer TrophyNeck TrophyEikthyr TrophyTheElder TrophyBonemass TrophyDragonQueen TrophyGoblinKing
    CargoCrate CookedMeat HelmetYule Torch Club Hammer Hoe AxeStone AxeFlint
";

#[cfg(test)]
mod tests {
    use super::{Interest, Shown, name_of};
    use crate::games::valheim::format::hash::stable_hash;

    #[test]
    fn names_are_found_by_hash_and_unknown_hashes_stay_numbers() {
        assert_eq!(name_of(-1_544_986_047), Some("StartTemple"));
        assert_eq!(Shown(328_745_978).to_string(), "piece_chest_wood");
        assert_eq!(Shown(7).to_string(), "prefab 7");
    }

    #[test]
    fn interest_and_names_agree() {
        for (name, interest) in [
            ("portal_wood", Interest::Portal),
            ("bed", Interest::Bed),
            ("LocationProxy", Interest::LocationProxy),
            ("Beech1", Interest::None),
        ] {
            assert_eq!(Interest::of(stable_hash(name)), interest, "{name}");
            assert_eq!(name_of(stable_hash(name)), Some(name));
        }
    }
}
