# BradleyTerry2: BTm on wins pooled by pair.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "harness.R"))
suppressPackageStartupMessages(library(BradleyTerry2))

if (task == "rank") {
  votes <- votes_from()
  answer(
    function() {
      names <- as.character(seq_len(sizes$n_items) - 1)
      winner <- ifelse(votes$choice > 0, votes$left, votes$right)
      loser <- ifelse(votes$choice > 0, votes$right, votes$left)
      first <- pmin(winner, loser)
      second <- pmax(winner, loser)
      key <- first * sizes$n_items + second
      wins <- tapply(winner == first, key, sum)
      met <- tapply(winner == first, key, length)
      key <- as.numeric(names(wins))
      games <- data.frame(
        first = factor(names[key %/% sizes$n_items + 1], levels = names),
        second = factor(names[key %% sizes$n_items + 1], levels = names)
      )
      BTm(cbind(wins, met - wins), first, second, data = games)
    },
    function(fit) {
      ability <- BTabilities(fit)[as.character(seq_len(sizes$n_items) - 1), "ability"]
      write_out(ability, "scores")
      list()
    }
  )
} else leave_out()
