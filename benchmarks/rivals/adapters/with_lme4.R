# lme4: fixed scores of items, a normal lean of each annotator: `(1 | annotator)`; one fit, no path.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "harness.R"))
suppressPackageStartupMessages(library(lme4))

item_columns <- function(votes) {
  n <- length(votes$left)
  signs <- sparseMatrix(i = rep(seq_len(n), 2), j = c(votes$left, votes$right) + 1L,
                        x = rep(c(1, -1), each = n), dims = c(n, sizes$n_items))
  as.matrix(signs[, -1, drop = FALSE])  # the first item's score is 0
}

if (task %in% c("path", "find")) {
  votes <- votes_from()
  fresh <- votes_from("fresh_")
  frame <- data.frame(won = as.integer(votes$choice > 0), annotator = factor(votes$annotator))
  frame$items <- item_columns(votes)
  answer(
    function() glmer(won ~ 0 + items + (1 | annotator), frame, family = binomial, nAGQ = 0),
    function(fit) {
      lean <- ranef(fit)$annotator[as.character(seq_len(sizes$n_annotators) - 1), 1]
      lean[is.na(lean)] <- 0
      write_out(abs(lean), "oddness")
      write_out(c(0, fixef(fit)), "scores")
      margins <- item_columns(fresh) %*% fixef(fit) + lean[fresh$annotator + 1]
      best_on_path(matrix(margins), fresh$choice)
    }
  )
} else leave_out()
