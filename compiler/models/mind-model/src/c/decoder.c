
/* State of the sequence. */
static struct bound project_bound[LAYERS], finish_bound[LAYERS], head_bound;
static float *keys[LAYERS], *values[LAYERS];
static float x[CHUNK * WIDTH], y[CHUNK * WIDTH], q[CHUNK * Q_WIDTH], mixed[CHUNK * Q_WIDTH];
static float cosines[3][CHUNK * PAIRS + 1], sines[3][CHUNK * PAIRS + 1], logits[VOCAB];
/* Attention masks of layers without and with a window. */
static float masks[2][CHUNK * ROWS];
#if HAS_EMBED
static struct bound embed_bound;
#endif
#if DISTANCES
static float *numbers, *added[2];
#endif
#if NARROW_ROWS > 0
/* The position of the first cache row of layers with a window, which keep only the positions that it reaches. */
static int base;

/* Evicts the rows of layers with a window that no query sees from position `first` on. `base` is a multiple of 64,
   the number of partial results of a sum. */
static void advance(int first)
{
    int next = first + 1 < WINDOW ? 0 : (first + 1 - WINDOW) / 64 * 64;
    if (next == base) {
        return;
    }
    size_t forgotten = (size_t)(next - base) * KV_WIDTH, kept = (size_t)(first - next) * KV_WIDTH;
    for (int layer = 0; layer < LAYERS; ++layer) {
        if (layers[layer].window > 0) {
            memmove(keys[layer], keys[layer] + forgotten, kept * sizeof(float));
            memmove(values[layer], values[layer] + forgotten, kept * sizeof(float));
            memset(keys[layer] + kept, 0, forgotten * sizeof(float));
            memset(values[layer] + kept, 0, forgotten * sizeof(float));
        }
    }
    base = next;
}
#else
static const int base = 0;
#endif

/* Returns the number of rows that a layer keeps. */
static uint64_t kept_rows(int layer)
{
    return NARROW_ROWS > 0 && layers[layer].window > 0 ? NARROW_ROWS : ROWS;
}

#if SOURCE
static struct bound ask_bound[LAYERS], source_bound[LAYERS];
/* Cross-attention keys and values of each layer, and the index of the attention function that reads them. */
static float *source_keys, *source_values, *source_mask;
static int look_choice;
/* The residual stream after self-attention. */
static float kept[CHUNK * WIDTH];

/* Computes the cross-attention keys and values of the encoder output for `count` positions. */
static void keep_source(int count)
{
    while (look[look_choice].rows < count) {
        ++look_choice;
    }
    int seen = look[look_choice].rows;
    for (int layer = 0; layer < LAYERS; ++layer) {
        float *k = source_keys + (size_t)layer * ENC_ROWS * KV_WIDTH;
        float *v = source_values + (size_t)layer * ENC_ROWS * KV_WIDTH;
        for (int row = 0; row < count; row += CHUNK) {
            const void *inputs[2] = {enc_x + (size_t)row * WIDTH, source_bound[layer].one};
            void *outputs[2] = {k + (size_t)row * KV_WIDTH, v + (size_t)row * KV_WIDTH};
            source_stages[layer].many(inputs, outputs);
        }
        size_t unused = sizeof(float) * (size_t)(ENC_ROWS - count) * KV_WIDTH;
        memset(k + (size_t)count * KV_WIDTH, 0, unused);
        memset(v + (size_t)count * KV_WIDTH, 0, unused);
    }
    for (int at = 0; at < CHUNK; ++at) {
        for (int other = 0; other < seen; ++other) {
            uint32_t bits = other < count ? 0 : 0xff800000u;
            memcpy(&source_mask[(size_t)at * (size_t)seen + (size_t)other], &bits, 4);
        }
    }
}

/* Replaces the result of self-attention by that of cross-attention. */
static void look_across(int layer, int padded)
{
    const struct stage *ask = &ask_stages[layer];
    const void *inputs[3] = {x, mixed, padded == 1 ? ask_bound[layer].one : ask_bound[layer].many};
    void *outputs[2] = {q, kept};
    (padded == 1 ? ask->one : ask->many)(inputs, outputs);
    const void *looked[5] = {q, source_keys + (size_t)layer * ENC_ROWS * KV_WIDTH,
        source_values + (size_t)layer * ENC_ROWS * KV_WIDTH, source_mask, NULL};
    void *found[1] = {mixed};
    (padded == 1 ? look[look_choice].one : look[look_choice].many)(looked, found);
}
#endif

#if EXPERTS > 0
static struct bound route_bound[LAYERS], merge_bound[LAYERS], expert_bound[LAYERS * EXPERTS];
/* The sum of the experts' outputs for each token; input rows, weights and output rows of one expert. */
static float made[CHUNK * WIDTH], expert_x[CHUNK * WIDTH], expert_y[CHUNK * WIDTH], shares[CHUNK];

/* Adds to `made` the outputs of an expert for those of `count` tokens that are routed to it. */
static void add_expert(int layer, int expert, int count)
{
    int own[CHUNK], rows = 0;
    memset(expert_x, 0, sizeof expert_x);
    memset(shares, 0, sizeof shares);
    for (int token = 0; token < count; ++token) {
        float share = left[1][token * EXPERTS + expert];
        if (share > 0.0f) {
            memcpy(expert_x + rows * WIDTH, left[0] + token * WIDTH, WIDTH * sizeof(float));
            shares[rows] = share;
            own[rows++] = token;
        }
    }
    if (rows == 0) {
        return;
    }
    const struct stage *stage = &expert_stages[layer * EXPERTS + expert];
    struct bound packed = expert_bound[layer * EXPERTS + expert];
    const void *inputs[3] = {expert_x, shares, rows == 1 ? packed.one : packed.many};
    void *outputs[1] = {expert_y};
    (rows == 1 ? stage->one : stage->many)(inputs, outputs);
    for (int row = 0; row < rows; ++row) {
        float *sum = made + own[row] * WIDTH;
        for (int element = 0; element < WIDTH; ++element) {
            sum[element] = sum[element] + expert_y[row * WIDTH + element];
        }
    }
}

/* Runs the part of a layer with experts after attention. */
static void mixture(int layer, int padded, int count)
{
    const struct stage *route = &route_stages[layer], *merge = &merge_stages[layer];
    const void *inputs[3] = {x, mixed, padded == 1 ? route_bound[layer].one : route_bound[layer].many};
    void *outputs[CROSSINGS];
    for (int at = 0; at < CROSSINGS; ++at) {
        outputs[at] = left[at];
    }
    (padded == 1 ? route->one : route->many)(inputs, outputs);
    memset(made, 0, sizeof made);
    for (int expert = 0; expert < EXPERTS; ++expert) {
        add_expert(layer, expert, count);
    }
    const void *behind[MERGED + 2];
    void *finished[1] = {y};
    behind[0] = made;
    for (int at = 0; at < MERGED; ++at) {
        behind[1 + at] = left[merged[at]];
    }
    behind[MERGED + 1] = padded == 1 ? merge_bound[layer].one : merge_bound[layer].many;
    (padded == 1 ? merge->one : merge->many)(behind, finished);
}
#endif

/* Runs `count` tokens, from position `first` on, through all layers. The output of the last one is in `x`. */
static void pass(const uint32_t *tokens, int count, int first)
{
#if NARROW_ROWS > 0
    advance(first);
#endif
    /* The position of the first row and the attention function, for layers without and with a window. */
    int padded = count == 1 ? 1 : CHUNK, starts[2] = {0, base}, choices[2] = {0, 0};
    for (int narrow = 0; narrow < 2; ++narrow) {
        while (attention[choices[narrow]].rows < first + count - starts[narrow]) {
            ++choices[narrow];
        }
    }
    memset(x, 0, sizeof x);
    for (int at = 0; at < count; ++at) {
        token_row(&tables, tokens[at], (uint64_t)(FIRST_POSITION + first + at), x + at * WIDTH);
    }
#if HAS_EMBED
    const void *rows[2] = {x, padded == 1 ? embed_bound.one : embed_bound.many};
    void *embedded[1] = {y};
    (padded == 1 ? embed_stage.one : embed_stage.many)(rows, embedded);
    memcpy(x, y, sizeof x);
#endif
#if DISTANCES
    for (int narrow = 0; narrow < 2; ++narrow) {
        fill_distances(&distances, numbers, added[narrow], first - starts[narrow], padded, attention[choices[narrow]].rows);
    }
#endif
    int window = 0;
    for (int layer = 0; layer < LAYERS; ++layer) {
        window = layers[layer].window > 0 ? layers[layer].window : window;
    }
    for (int at = 0; at < padded; ++at) {
        for (int turning = 0; turning < 3; ++turning) {
            rotation(turning, (uint32_t)(first + at), cosines[turning] + at * PAIRS, sines[turning] + at * PAIRS);
        }
        for (int narrow = 0; narrow < 2; ++narrow) {
            int seen = attention[choices[narrow]].rows;
            for (int row = 0; row < seen; ++row) {
                int away = first + at - (starts[narrow] + row);
                int is_seen = away >= 0 && (narrow == 0 || window == 0 || away < window);
                uint32_t bits = is_seen ? 0 : 0xff800000u;
                memcpy(&masks[narrow][at * seen + row], &bits, 4);
            }
        }
    }
    for (int layer = 0; layer < LAYERS; ++layer) {
        int narrow = layers[layer].window > 0, row = first - starts[narrow], choice = choices[narrow];
        float *k = keys[layer], *v = values[layer];
        float *new_k = k + (size_t)row * KV_WIDTH, *new_v = v + (size_t)row * KV_WIDTH;
        size_t unused = sizeof(float) * (size_t)(padded - count) * KV_WIDTH;
        int turning = layers[layer].turning;
        void *projecting = padded == 1 ? project_bound[layer].one : project_bound[layer].many;
        void *finishing = padded == 1 ? finish_bound[layer].one : finish_bound[layer].many;
        const void *rotated[4] = {x, cosines[turning], sines[turning], projecting};
        const void *straight[2] = {x, projecting};
        void *projected[3] = {q, new_k, new_v};
        const struct stage *project = &project_stages[layer], *finish = &finish_stages[layer];
        (padded == 1 ? project->one : project->many)(PAIRS > 0 ? rotated : straight, projected);
        memset(new_k + (size_t)count * KV_WIDTH, 0, unused);
        memset(new_v + (size_t)count * KV_WIDTH, 0, unused);
        const void *looked[6] = {q, k, v, masks[narrow], NULL, NULL};
#if DISTANCES
        looked[4] = added[narrow];
#endif
        void *found[1] = {mixed};
        (padded == 1 ? attention[choice].one : attention[choice].many)(looked, found);
        const float *stream = x;
#if SOURCE
        look_across(layer, padded);
        stream = kept;
#endif
#if EXPERTS > 0
        if (finish->one == NULL) {
            mixture(layer, padded, count);
            memcpy(x, y, sizeof x);
            continue;
        }
#endif
        const void *behind[3] = {stream, mixed, finishing};
        void *finished[1] = {y};
        (padded == 1 ? finish->one : finish->many)(behind, finished);
        memcpy(x, y, sizeof x);
    }
}

/* Computes the logits of row `row` of `x`. */
static void head(int row)
{
    const void *inputs[2] = {x + row * WIDTH, head_bound.one};
    void *outputs[1] = {logits};
    head_stage.one(inputs, outputs);
}

/* Sets the logits of suppressed tokens to negative infinity. */
static void suppress(const uint32_t *tokens)
{
    uint32_t bits = 0xff800000u;
    for (; *tokens < VOCAB; ++tokens) {
        memcpy(&logits[*tokens], &bits, 4);
    }
}

/* Returns the most likely token. */
static uint32_t largest(void)
{
    uint32_t best = 0;
    float most = 0.0f;
    int has_one = 0;
    for (uint32_t token = 0; token < VOCAB; ++token) {
        if (logits[token] == logits[token] && (!has_one || logits[token] > most)) {
            best = token;
            most = logits[token];
            has_one = 1;
        }
    }
    return best;
}

#if READS_AUDIO
#define USAGE "usage: %s FEATURES TOKENS COUNT (FILE... | --seed=SEED) [--logits=OUT]\n" \
    "Hears FEATURES, a file of f32 bits, of each feature its number in every frame, and goes on from TOKENS, such as 0, with " \
    "COUNT tokens, each the most likely one.\n"
#elif SOURCE
#define USAGE "usage: %s TEXT TOKENS COUNT (FILE... | --seed=SEED) [--logits=OUT]\n" \
    "Reads the tokens of TEXT, such as 1,2,3, and goes on from TOKENS, such as 0, with COUNT tokens, each the most likely " \
    "one.\n"
#else
#define USAGE "usage: %s TOKENS COUNT (FILE... | --seed=SEED) [--logits=OUT]\n" \
    "Goes on from TOKENS, such as 1,2,3, with COUNT tokens, each the most likely one.\n"
#endif

static int usage(const char *program)
{
    fprintf(stderr,
        USAGE
        "FILE...: %d weight file(s); --seed: made-up weights; --logits: the f32 bits that tokens came from.\n",
        program, FILES);
    return 2;
}

int main(int count, char **words)
{
    static uint32_t tokens[CAPACITY + 1];
    int length, opened = 0;
    FILE *out = NULL;
    if (count < 4 + SOURCE) {
        return usage(words[0]);
    }
    if (lacks_cpu()) {
        return 1;
    }
#if READS_AUDIO
    float *features = read_numbers(words[1], (size_t)ENC_MEL_BINS * ENC_FRAMES);
    if (features == NULL) {
        return 1;
    }
#elif SOURCE
    static uint32_t text[ENC_CAPACITY + 1];
    int read = parse_tokens(words[1], text, ENC_CAPACITY);
    if (read < 0) {
        return 1;
    }
    if (read == 0) {
        fprintf(stderr, "error: no tokens to read: expected at least one\n");
        return 1;
    }
#endif
    length = parse_tokens(words[1 + SOURCE], tokens, CAPACITY);
    if (length < 0) {
        return 1;
    }
    long wanted = strtol(words[2 + SOURCE], NULL, 10);
    if (length == 0 || wanted < 1 || wanted > CAPACITY + 1 - length) {
        fprintf(stderr, "error: %d tokens and COUNT more do not fit a cache for %d\n", length, CAPACITY);
        return 1;
    }
    for (int at = 3 + SOURCE; at < count; ++at) {
        const char *logits_name = value_of(words[at], "--logits=");
        if (is_seed(words[at])) {
            continue;
        }
        if (logits_name != NULL) {
            out = fopen(logits_name, "wb");
            if (out == NULL) {
                fprintf(stderr, "error: %s cannot be written\n", logits_name);
                return 1;
            }
        } else if (opened >= FILES || words[at][0] == '-') {
            return usage(words[0]);
        } else if (open_weights(words[at], &opened) != 0) {
            return 1;
        }
    }
    if (!has_seed && opened != FILES) {
        return usage(words[0]);
    }
    for (int layer = 0; layer < LAYERS; ++layer) {
        project_bound[layer] = bound(&project_stages[layer]);
        finish_bound[layer] = bound(&finish_stages[layer]);
#if EXPERTS > 0
        route_bound[layer] = bound(&route_stages[layer]);
        merge_bound[layer] = bound(&merge_stages[layer]);
        for (int at = layer * EXPERTS; at < (layer + 1) * EXPERTS; ++at) {
            expert_bound[at] = bound(&expert_stages[at]);
        }
#endif
    }
    head_bound = bound(&head_stage);
#if HAS_EMBED
    embed_bound = bound(&embed_stage);
#endif
#if DISTANCES
    numbers = distance_numbers(&distances);
    for (int narrow = 0; narrow < 2; ++narrow) {
        added[narrow] = room(sizeof(float) * (uint64_t)distances.heads * CHUNK * ROWS);
    }
#endif
    for (int layer = 0; layer < LAYERS; ++layer) {
        keys[layer] = room(sizeof(float) * kept_rows(layer) * KV_WIDTH);
        values[layer] = room(sizeof(float) * kept_rows(layer) * KV_WIDTH);
    }
    clock_t started = clock();
#if SOURCE
    bind_encoder();
    for (int layer = 0; layer < LAYERS; ++layer) {
        ask_bound[layer] = bound(&ask_stages[layer]);
        source_bound[layer] = bound(&source_stages[layer]);
    }
    source_keys = room(sizeof(float) * (uint64_t)LAYERS * ENC_ROWS * KV_WIDTH);
    source_values = room(sizeof(float) * (uint64_t)LAYERS * ENC_ROWS * KV_WIDTH);
    source_mask = room(sizeof(float) * (uint64_t)CHUNK * ENC_ROWS);
    started = clock();
#if READS_AUDIO
    encode(features);
    free(features);
    keep_source(ENC_FRAMES / 2);
#else
    encode(text, read);
    keep_source(read);
#endif
#endif
    int rows = 0;
    for (int first = 0; first < length; first += rows) {
        rows = length - first < CHUNK ? length - first : CHUNK;
        pass(tokens + first, rows, first);
    }
    clock_t prefilled = clock();
    int status = 0;
    for (long at = 0; at < wanted; ++at) {
        head(at == 0 ? rows - 1 : 0);
        if (out != NULL && fwrite(logits, sizeof(float), VOCAB, out) != VOCAB) {
            status = 1;
        }
        suppress(suppressed);
        if (at == 0) {
            suppress(suppressed_first);
        }
        uint32_t token = largest();
        /* The first token is forced only after a prompt of one token. */
        if (FORCED_FIRST >= 0 && at == 0 && length == 1) {
            token = (uint32_t)FORCED_FIRST;
        }
        if (FORCED_LAST >= 0 && at + 1 == wanted) {
            token = (uint32_t)FORCED_LAST;
        }
        printf(at + 1 == wanted ? "%u\n" : "%u,", (unsigned)token);
        if (at + 1 < wanted) {
            pass(&token, 1, length + (int)at);
        }
    }
    clock_t done = clock();
    fprintf(stderr, "prefill %.1f tokens/s, decode %.1f tokens/s\n",
        length * (double)CLOCKS_PER_SEC / ((double)(prefilled - started) + 1.0),
        (double)wanted * (double)CLOCKS_PER_SEC / ((double)(done - prefilled) + 1.0));
    for (int layer = 0; layer < LAYERS; ++layer) {
        unbind(project_bound[layer]);
        unbind(finish_bound[layer]);
#if EXPERTS > 0
        unbind(route_bound[layer]);
        unbind(merge_bound[layer]);
        for (int at = layer * EXPERTS; at < (layer + 1) * EXPERTS; ++at) {
            unbind(expert_bound[at]);
        }
#endif
    }
#if SOURCE
    for (int layer = 0; layer < LAYERS; ++layer) {
        unbind(ask_bound[layer]);
        unbind(source_bound[layer]);
    }
    unbind_encoder();
    free(source_keys);
    free(source_values);
    free(source_mask);
#endif
#if HAS_EMBED
    unbind(embed_bound);
#endif
#if DISTANCES
    free(numbers);
    free(added[0]);
    free(added[1]);
#endif
    unbind(head_bound);
    for (int layer = 0; layer < LAYERS; ++layer) {
        free(keys[layer]);
        free(values[layer]);
    }
    for (int at = 0; at < opened; ++at) {
        fclose(files[at]);
    }
    if (out != NULL && fclose(out) != 0) {
        status = 1;
    }
    return status;
}
